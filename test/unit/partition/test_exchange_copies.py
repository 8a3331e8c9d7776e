# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of the local code of equal exchanges."""

from mlir_sdy.assembly import parse
from mlir_sdy.host import location_of
from pyshardy.irtools.collectives import channel_of
from pyshardy.irtools.walks import operations_named
from pyshardy.passes.partitioning.resolve_permutation_factors import resolve_permutation_factors

TENSOR = 'tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
TWO_SLICES = f"""sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: {TENSOR}, %b: {TENSOR}) -> (tensor<7xf32>, tensor<7xf32>) {{
  %0 = stablehlo.slice %a [1:8] {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x"}}]>]>}}
      : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.slice %b [1:8] {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x"}}]>]>}}
      : (tensor<8xf32>) -> tensor<7xf32>
  return %0, %1 : tensor<7xf32>, tensor<7xf32>
}}"""


def test_copies_have_their_own_operands_locations_and_channels(context):
    module = parse(TWO_SLICES, context)
    resolve_permutation_factors(module)
    module.operation.verify()
    first, second = operations_named({"sdy.manual_computation"}, module)
    arguments = module.body.operations[1].regions[0].blocks[0].arguments
    assert [first.operands[0], second.operands[0]] == [*arguments]
    for computation, line in ((first, 3), (second, 5)):
        block = computation.regions[0].blocks[0]
        places = [block.arguments[0].location, *(each.location for each in block.operations)]
        assert {location_of(each).line for each in places} == {line}
    permutes = operations_named({"stablehlo.collective_permute"}, module)
    assert list(map(channel_of, permutes)) == [1, 2]
