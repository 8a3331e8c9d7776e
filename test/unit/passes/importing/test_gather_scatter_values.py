# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers and scatters compute the same with explicit batch dimensions as without."""

from pathlib import Path

import numpy as np
import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.host import ir, stablehlo
from pyshardy.irtools.functions import functions_of
from pyshardy.passes.importing import explicit_gather_scatter_batching

LIT_TESTS = Path(__file__).parents[3] / "lit" / "passes" / "importing"
CASES = [
    pytest.param(text, id=f"{name}-{index}")
    for name in ("explicit_gather_scatter_batching", "misleading_indices")
    for index, text in enumerate((LIT_TESTS / f"{name}.mlir").read_text().split("// -----"))
]


def random_input(rng: np.random.Generator, kind: ir.RankedTensorType) -> np.ndarray:
    """Any numbers, or indices that are valid."""
    shape = tuple(kind.shape)
    if str(kind.element_type) == "i32":
        return rng.integers(0, 4, shape).astype(np.int32)
    if str(kind.element_type) == "i1":
        return rng.integers(0, 2, shape).astype(bool)
    return rng.integers(-50, 50, shape).astype(np.float32)


def evaluate(module: ir.Module, inputs: list[np.ndarray]) -> list[np.ndarray]:
    with module.context:
        attributes = [ir.DenseElementsAttr.get(array) for array in inputs]
        return [np.array(result) for result in stablehlo.eval_module(module, attributes)]


@pytest.mark.parametrize("text", CASES)
def test_the_values_stay(context, text):
    module = parse(text, context)
    rng = np.random.default_rng(0)
    function = functions_of(module)[0]
    inputs = [random_input(rng, arg.type) for arg in function.regions[0].blocks[0].arguments]
    before = evaluate(module, inputs)
    explicit_gather_scatter_batching(function)
    assert module.operation.verify()
    after = evaluate(module, inputs)
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(new, old, err_msg=asm(module))
