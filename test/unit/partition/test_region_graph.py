# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values and operations as regions see them."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from mlir_sdy.symbols import meshes_of
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.regions.graph import RegionGraph
from pyshardy.rules import ShardingRuleLookup

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.all_reduce KIND {"x"} %a out_sharding=<@mesh, [{}]> : tensor<4xf32>
  %1 = sdy.all_reduce {"x"} %b out_sharding=<@mesh, [{}]> : tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(("kind", "addends"), [("", 2), ("max", 1)])
def test_addends(kind, addends):
    """Only sums are completed together with others."""
    context = Context()
    module = parse(PROGRAM.replace("KIND", kind), context)
    meshes = meshes_of(module.operation)
    graph = RegionGraph("mesh", meshes["mesh"], meshes, ShardingRuleLookup.shared(context))
    first, second = operations_named({"sdy.all_reduce"}, module)
    assert graph.use(first.results[0]).value.addends == addends
    assert graph.use(second.results[0]).value.addends == addends
