# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of arrays within the tolerance of rounding.

Sharding a sum changes the order of its terms and thereby its rounding. Floating-point results are
therefore compared by their largest difference relative to the largest value of the array; integers
and booleans must be equal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from pyshardy.local_program.tensor_spec import Array, TensorSpec

_TOLERANCES: dict[str, float] = {
    "f64": 1e-12,
    "complex<f64>": 1e-12,
    "f32": 1e-5,
    "complex<f32>": 1e-5,
    "f16": 1e-2,
    "bf16": 5e-2,
}
_NARROW_FLOAT_TOLERANCE = 0.25
_FLOAT = re.compile(r"(?:bf|f)\d|complex<")


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two arrays.

    Attributes:
        absolute: the largest difference of two elements; infinite if only one of them is finite,
            or is not a number.
        relative: the same, divided by the largest finite value of the second array.
        tolerance: the largest relative difference at which they count as equal.
    """

    absolute: float
    relative: float
    tolerance: float

    @property
    def is_small(self) -> bool:
        """Whether the arrays count as equal."""
        return self.relative <= self.tolerance


def default_tolerance(spec: TensorSpec) -> float:
    """Return the relative difference that rounding explains for an element type."""
    if spec.dtype.kind in "bui":
        return 0.0
    return _TOLERANCES.get(spec.element, _NARROW_FLOAT_TOLERANCE)


def tolerance_within(module: ir.Module) -> float:
    """Return the relative difference that the least precise element type of a program explains.

    A result of type f32 that is computed from sums of type bf16 is as imprecise as these.
    """
    types: set[ir.Type] = set()

    def visit(operation: ir.Operation) -> ir.WalkResult:
        types.update(result.type for result in operation.results)
        for region in operation.regions:
            for block in region.blocks:
                types.update(argument.type for argument in block.arguments)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    elements = {str(t.element_type) for t in types if isinstance(t, ir.RankedTensorType)}
    return max(
        (
            _TOLERANCES.get(element, _NARROW_FLOAT_TOLERANCE)
            for element in elements
            if _FLOAT.match(element)
        ),
        default=0.0,
    )


def compare(
    found: Array, expected: Array, spec: TensorSpec, tolerance: float | None = None
) -> Difference:
    """Compare two arrays of one shape.

    Args:
        found: the array to check.
        expected: the array that it should be.
        spec: the type of both, of which only the elements matter.
        tolerance: for floating point, instead of the one of the element type.
    """
    default = default_tolerance(spec)
    allowed = default if tolerance is None or default == 0.0 else tolerance
    if spec.dtype.kind in "bui":
        differs = found != expected
        if not differs.any():
            return Difference(0.0, 0.0, allowed)
        distance = abs(found[differs].astype(object) - expected[differs].astype(object))
        absolute = float(max(distance))
        return Difference(absolute, absolute / max(float(np.abs(expected).max()), 1.0), allowed)
    wide = np.complex128 if spec.is_complex else np.float64
    left, right = found.astype(wide), expected.astype(wide)
    finite = np.isfinite(right)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    if not (same | (finite & np.isfinite(left))).all():
        return Difference(np.inf, np.inf, allowed)
    distance = np.abs(np.where(same, 0, left) - np.where(same, 0, right))
    absolute = float(distance.max(initial=0.0))
    scale = float(np.abs(right[finite]).max(initial=0.0))
    relative = absolute if absolute == 0.0 or scale == 0.0 else absolute / scale
    return Difference(absolute, relative, allowed)
