# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs compute the same without merged dimensions, with at most as many reshapes that split."""

import math
import re

import numpy as np
import pytest
from merged_programs import MergingProgram

from mlir_sdy.assembly import asm, parse
from mlir_sdy.host import ir, stablehlo
from pyshardy.api import propagate
from pyshardy.irtools.functions import functions_of
from pyshardy.passes.importing import unmerge_batch_dimensions
from pyshardy.passes.importing.unmerge_batch_dimensions.linked_dimensions import SharedDimension
from pyshardy.passes.importing.unmerge_batch_dimensions.splits import (
    ALL_SPLITS,
    NO_SPLITS,
    NumberedOperation,
    parts_of,
    plan_splits,
    split_merged_dimensions,
    through_reshape,
)
from pyshardy.program import partition

NONE = NO_SPLITS


def evaluate(module, inputs):
    with module.context:
        attributes = [ir.DenseElementsAttr.get(array) for array in inputs]
        return [np.array(result) for result in stablehlo.eval_module(module, attributes)]


def splitting_reshapes(module):
    """The number of reshapes whose result has a dimension that ends within one of the operand."""
    found = re.findall(
        r"stablehlo\.reshape .* \(tensor<(.*)xi32>\) -> tensor<(.*)xi32>", asm(module)
    )
    shapes = [[tuple(map(int, side.split("x"))) for side in pair] for pair in found]
    ends = [[{math.prod(s[:i]) for i in range(len(s) + 1)} for s in pair] for pair in shapes]
    return sum(not after <= before for before, after in ends)


def test_random_programs_compute_the_same(context):
    changed = 0
    for seed in range(100):
        program = MergingProgram(seed)
        module = parse(program.text, context)
        rng = np.random.default_rng(seed)
        inputs = [rng.integers(-9, 9, shape).astype(np.int32) for shape in program.shapes]
        before, text, count = evaluate(module, inputs), asm(module), splitting_reshapes(module)
        function = functions_of(module)[0]
        with context:
            split_merged_dimensions(function)
        assert splitting_reshapes(module) <= count, f"{text}\n{asm(module)}"
        unmerge_batch_dimensions(function)
        assert module.operation.verify()
        for old, new in zip(before, evaluate(module, inputs), strict=True):
            np.testing.assert_array_equal(new, old, err_msg=f"{text}\n{asm(module)}")
        changed += asm(module) != text
    assert changed >= 50


@pytest.mark.parametrize(
    ("source", "splits", "target", "expected"),
    [
        ((8, 6, 4), [NONE, NONE, NONE], (48, 4), ({8}, NONE)),  # merged
        ((3, 8), [NONE, NONE], (12, 2), ({3}, NONE)),  # merged with a part of another dimension
        ((4, 6), [NONE, NONE], (8, 3), ({4}, NONE)),
        ((4, 6), [NONE, NONE], (6, 4), (NONE, NONE)),  # 4 doesn't divide 6
        ((48, 4), [{8}, NONE], (1, 48, 4), (NONE, {8}, NONE)),  # the same dimension
        ((48, 4), [{8}, {2}], (192,), ({8, 48, 96},)),
        ((48, 4), [ALL_SPLITS, NONE], (48, 2, 2), (ALL_SPLITS, NONE, NONE)),
        ((48, 4), [ALL_SPLITS, NONE], (192,), ({48},)),
        ((), [], (1, 1), (NONE, NONE)),
    ],
)
def test_splits_pass_through_reshapes(source, splits, target, expected):
    assert through_reshape(source, splits, target) == expected


LINEAR = (
    SharedDimension(((0, 0),), ((0, 0),)),
    SharedDimension(((0, 1), (1, 0)), ()),
    SharedDimension(((1, 1),), ((0, 1),)),
)


@pytest.mark.parametrize(
    ("back", "splits"), [((8, 6, 5), {8}), ((6, 8, 5), NONE), ((2, 24, 5), NONE), ((48, 5), NONE)]
)
def test_splits_are_those_of_both_reshapes(back, splits):
    shapes = [(8, 6, 4), (48, 4), (4, 5), (48, 5), back]
    steps = [
        NumberedOperation((0,), (1,), is_reshape=True),
        NumberedOperation((1, 2), (3,), LINEAR),
        NumberedOperation((3,), (4,), is_reshape=True),
    ]
    plan = plan_splits(shapes, steps)
    assert plan.of_values[1] == (splits, NONE)
    assert plan.of_values[3] == (splits, NONE)
    assert plan.of_values[0] == (NONE, NONE, NONE)
    assert plan.of_links[1] == (splits, NONE, NONE)


def test_parts():
    assert parts_of((48, 64, 1), ({8}, {8, 32}, NONE)) == ((8, 6), (8, 4, 2), (1,))


def test_propagation_restores_dimensions_on_demand(context):
    text = """
        sdy.mesh @mesh = <["data"=2, "model"=2]>
        func.func @main(%q: tensor<4x4x6x8xf32> {
            sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>
        }) -> tensor<4x4x6x6xf32> {
          %0 = stablehlo.reshape %q : (tensor<4x4x6x8xf32>) -> tensor<16x6x8xf32>
          %1 = stablehlo.dot_general %0, %0, batching_dims = [0] x [0], contracting_dims = [2] x [2]
            : (tensor<16x6x8xf32>, tensor<16x6x8xf32>) -> tensor<16x6x6xf32>
          %2 = stablehlo.reshape %1 : (tensor<16x6x6xf32>) -> tensor<4x4x6x6xf32>
          return %2 : tensor<4x4x6x6xf32>
        }"""
    sent = {}
    for restores in (False, True):
        module = parse(text, context)
        propagate(module, unmerge_batch_dimensions=restores)
        sent[restores] = [one.kind for one in partition(module).collectives]
    assert sent[False] != []
    assert sent[True] == []
