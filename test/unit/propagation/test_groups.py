# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding groups that can't be kept alike."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import PassError
from mlir_sdy.dialect import Context
from pyshardy.passes.propagating import basic_propagate

PROGRAM = """sdy.mesh @m = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"b", ?}}]>}}, %y: {type}) {{
  sdy.sharding_group %x group_id=1 : tensor<8xf32>
  sdy.sharding_group %y group_id={group} : {type}
  return
}}
"""


def module(other_type, group=1):
    return parse(PROGRAM.format(type=other_type, group=group), Context(), "file")


def test_values_of_different_ranks_can_not_be_in_one_group():
    program = module("tensor<8x4xf32>")
    before = asm(program)
    with pytest.raises(PassError) as raised:
        basic_propagate(program)
    assert str(raised.value).splitlines() == [
        "file:4:3: error: sharding group 1 has values of different ranks, tensor<8xf32> and "
        "tensor<8x4xf32>, which can't have the same sharding; put them into different groups",
        "file:3:3: note: the group starts with a tensor<8xf32> here",
    ]
    assert asm(program) == before


@pytest.mark.parametrize(
    ("other_type", "group", "is_sharded"),
    [("tensor<4xf32>", 1, True), ("tensor<4xf32>", 2, False), ("tensor<8x4xf32>", 2, False)],
)
def test_sizes_may_differ_and_other_groups(other_type, group, is_sharded):
    program = module(other_type, group)
    basic_propagate(program)
    assert asm(program).count('[{"b", ?}]') == 1 + is_sharded
