# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls as JAX writes them: effects on one device, and rules that say nothing."""

import re

from mlir_sdy.assembly import asm, parse
from pyshardy.api import propagate
from pyshardy.program import partition


def test_an_effect_on_one_device(context):
    """It has a sharding, but no results; so writes `jax.debug.print`."""
    module = parse(
        """
        sdy.mesh @mesh = <["x"=2]>
        sdy.mesh @first = <[], device_ids=[0]>
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> tensor<8xf32> {
          stablehlo.custom_call @print(%a) {has_side_effect = true,
            sdy.sharding = #sdy.sharding_per_value<[<@first, []>]>} : (tensor<8xf32>) -> ()
          return %a : tensor<8xf32>
        }""",
        context,
    )
    propagate(module)
    program = partition(module)
    assert "@print" in asm(program.module)


def test_a_rule_of_which_nothing_follows(context):
    """No factor of the operand is one of the result: each device needs, and makes, all of both."""
    module = parse(
        """
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
            -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
          %0 = stablehlo.custom_call @lapack(%a) {
            output_operand_aliases = [#stablehlo.output_operand_alias<
              output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>],
            sdy.sharding_rule = #sdy.op_sharding_rule<
              ([i, j])->([k, l]) {i=8, j=8, k=8, l=8}, custom>}
            : (tensor<8x8xf32>) -> tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }""",
        context,
    )
    propagate(module)
    program = partition(module)
    assert re.search(r"%(\d+) = \"stablehlo.all_gather(.|\n)*@lapack\(%\1\)", asm(program.module))
    assert "(tensor<8x8xf32>) -> tensor<8x8xf32>" in asm(program.module)
    assert [collective.kind for collective in program.collectives] == ["all_gather"]


def test_a_dimension_that_is_only_partly_blocked(context):
    """The axis shards the factor `i` of the result, although the dimension ends with `j`."""
    module = parse(
        """
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
            -> (tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
          %0 = stablehlo.custom_call @sort_rows(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<
              ([i, j])->([ij]) {i=4, j=8} need_replication={j}, custom>}
            : (tensor<4x8xf32>) -> tensor<32xf32>
          return %0 : tensor<32xf32>
        }""",
        context,
    )
    propagate(module)
    program = partition(module)
    assert not program.collectives
    assert "(tensor<1x8xf32>) -> tensor<8xf32>" in asm(program.module)
