# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What devices compute of their indices, as tables."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.shard.values import Grid
from pyshardy.shard.lowering.device_values import DeviceValues

# The index %i of four devices is 0, 1, 2, 3; %m is it minus 2.
PRELUDE = """
  %i = shard.process_linear_index on @grid : index
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %m = arith.subi %i, %c2 : index
"""

CASES = {
    "arith.addi %i, %c2 : index": [2, 3, 4, 5],
    "arith.muli %m, %c3 : index": [-6, -3, 0, 3],
    "arith.divsi %m, %c2 : index": [-1, 0, 0, 0],
    "arith.floordivsi %m, %c2 : index": [-1, -1, 0, 0],
    "arith.ceildivsi %i, %c2 : index": [0, 1, 1, 2],
    "arith.remsi %m, %c3 : index": [-2, -1, 0, 1],
    "arith.remui %i, %c3 : index": [0, 1, 2, 0],
    "arith.remui %m, %c3 : index": None,
    "arith.divsi %c2, %i : index": None,
    "arith.maxsi %m, %c0 : index": [0, 0, 0, 1],
    "arith.minui %i, %c2 : index": [0, 1, 2, 2],
    "arith.andi %i, %c2 : index": [0, 0, 2, 2],
    "arith.xori %i, %c3 : index": [3, 2, 1, 0],
    "arith.cmpi slt, %m, %c0 : index": [1, 1, 0, 0],
    "arith.cmpi ult, %i, %c2 : index": [1, 1, 0, 0],
    "arith.cmpi ult, %m, %c2 : index": None,
    "arith.addi %i, %unknown : index": None,
    "shard.process_multi_index on @grid axes = [1] : index": [0, 1, 0, 1],
    "shard.grid_shape @grid axes = [0] : index": [2, 2, 2, 2],
}


def tables(body, context):
    """The table of each value that a body computes, by its name in the text."""
    module = parse(
        f"shard.grid @grid(shape = 2x2)\nfunc.func @f(%unknown: index, %t: tensor<i32>) {{\n"
        f"{PRELUDE}\n{body}\n  return\n}}",
        context,
    )
    values = DeviceValues({"grid": Grid((2, 2))})
    operations = [
        view.operation for view in module.body.operations[1].regions[0].blocks[0].operations
    ]
    for operation in operations:
        values.learn(operation)
    last = operations[-2].results[0]
    return values, last, module


@pytest.mark.parametrize("expression", CASES)
def test_arithmetic(expression, context):
    values, last, _module = tables(f"  %x = {expression}", context)
    table = values.table(last)
    assert (None if table is None else table.tolist()) == CASES[expression]


def test_choices(context):
    body = """
      %small = arith.cmpi sle, %i, %c0 : index
      %x = arith.select %small, %c3, %i : index"""
    values, last, _module = tables(body, context)
    assert values.table(last).tolist() == [3, 1, 2, 3]


def test_narrow_integers_wrap(context):
    body = """
      %n = arith.index_cast %i : index to i32
      %c100 = arith.constant 100 : i32
      %large = arith.muli %n, %c100 : i32
      %x = arith.trunci %large : i32 to i8"""
    values, last, _module = tables(body, context)
    assert values.table(last).tolist() == [0, 100, -56, 44]


def test_booleans_grow(context):
    body = """
      %odd = arith.trunci %n : i32 to i1
      %x = arith.extsi %odd : i1 to i32"""
    values, last, _module = tables("      %n = arith.index_cast %i : index to i32" + body, context)
    assert values.table(last).tolist() == [0, -1, 0, -1]


def test_integers_of_tensors_are_known_by_the_tensor(context):
    body = """
      %element = tensor.extract %t[] : tensor<i32>
      %x = arith.index_cast %element : i32 to index"""
    values, last, module = tables(body, context)
    tensor = module.body.operations[1].regions[0].blocks[0].arguments[1]
    assert values.known(last) == tensor
    assert values.table(last) is None
    assert values.known(5).tolist() == [5] * 4
