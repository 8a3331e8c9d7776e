# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Neutral elements change nothing, whatever they are combined with."""

import numpy as np
import pytest

from mlir_sdy.host import ir
from pyshardy.local_program.values import attribute_of
from pyshardy.partition.types.neutral_elements import neutral_elements

REDUCTIONS = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
VALUES = {
    "f32": np.array([-0.0, 0.0, 1.5, -np.inf, np.inf, -3e38, 3e38], np.float32),
    "f64": np.array([-0.0, 0.0, 1.5, -np.inf, np.inf, -1e308, 1e308]),
    "i8": np.array([-128, -1, 0, 1, 127], np.int8),
    "ui8": np.array([0, 1, 127, 128, 255], np.uint8),
    "i32": np.array([-(2**31), -1, 0, 1, 2**31 - 1], np.int32),
    "ui64": np.array([0, 1, 2**63, 2**64 - 1], np.uint64),
}


@pytest.mark.parametrize("element", VALUES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_nothing_changes(context, reduction, element):
    values = VALUES[element]
    with context, ir.Location.unknown():
        tensor = ir.RankedTensorType.get([1], ir.Type.parse(element))
        neutral = neutral_elements(f"stablehlo.{reduction}", tensor)
        if values.dtype.kind == "f" and reduction in ("and", "or", "xor"):
            assert neutral is None
            return
        found = REDUCTIONS[reduction](values, np.array(neutral))
        # Bits are compared, which tells 0.0 from -0.0.
        assert attribute_of(found.astype(values.dtype)) == attribute_of(values)


@pytest.mark.parametrize(
    ("element", "reduction", "text"),
    [
        ("i1", "and", "true"),
        ("i1", "maximum", "false"),
        ("bf16", "maximum", "0xFF80"),
        ("bf16", "minimum", "0x7F80"),
        ("f8E4M3FN", "maximum", "-4.480000e+02"),
        ("f8E4M3FN", "minimum", "4.480000e+02"),
        ("f8E4M3FNUZ", "maximum", "-2.400000e+02"),
        ("f8E5M2", "minimum", "0x7C"),
        ("f8E4M3FNUZ", "add", "0.000000e+00"),
        ("complex<f32>", "add", "(-0.000000e+00,-0.000000e+00)"),
        ("complex<f32>", "maximum", None),
    ],
)
def test_other_types(context, element, reduction, text):
    with context, ir.Location.unknown():
        tensor = ir.RankedTensorType.get([2], ir.Type.parse(element))
        neutral = neutral_elements(f"stablehlo.{reduction}", tensor)
        assert neutral == (
            None if text is None else ir.Attribute.parse(f"dense<{text}> : {tensor}")
        )
