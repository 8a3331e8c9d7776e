# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of arrays within the tolerance of rounding.

Sharding a sum changes the order of its terms and thereby its rounding. Floating-point results are
therefore compared by their largest difference relative to the largest value of the array; integers
and booleans must be equal.

The tolerance of an element type suits short programs. A deep one may amplify rounding far beyond
it, so the noise is measured: the relative difference that moving all inputs by one unit in the last
place makes. With tolerance t and noise n, a relative difference d is judged as follows:

1. Nothing compared, as all values are NaN or infinite on both sides: inconclusive.
2. d <= t: OK.
3. d <= 10 n and d <= 0.01: OK, since rounding explains it.
4. d <= 10 n: inconclusive, since rounding would hide an error of this size.
5. Otherwise: failed.

A tolerance that a user gives is a limit: d > t has failed, whatever n is.

Examples with t = 1e-5: d = 3e-4 and n = 1e-4 is OK by 3; d = 0.8 and n = 1.2 is inconclusive by 4;
d = 0.8 and n = 1e-6 has failed by 5.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.registry import CompileOptions, registered
from pyshardy.backends.xla.preparation import drops_nans
from pyshardy.irtools.stablehlo_views import CompareView
from pyshardy.irtools.walks import operations_named
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


_NOISE_FACTOR = 10
"""The noise is measured for one set of rounding errors; others may be several times larger."""

_MOST_EXPLAINED = 0.01
"""The largest relative difference that noise can excuse."""


class Verdict(enum.Enum):
    """The outcome of a comparison."""

    OK = "OK"
    FAILED = "FAILED"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two arrays.

    Attributes:
        absolute: the largest difference of two elements; infinite if only one of them is finite,
            or is not a number.
        relative: the same, divided by the largest finite value of the second array.
        tolerance: the largest relative difference at which they count as equal.
        size: the number of elements.
        num_nan: the number of elements that are not a number in both.
        num_infinite: the number of elements that are the same infinity in both.
        noise: the relative difference by rounding alone; None if it wasn't measured.
        is_limit: whether a difference above the tolerance has failed, even if rounding explains it.
    """

    absolute: float
    relative: float
    tolerance: float
    size: int
    num_nan: int = 0
    num_infinite: int = 0
    noise: float | None = None
    is_limit: bool = False

    def with_noise(self, noise: float) -> Difference:
        """Return the same difference with the measured noise."""
        return replace(self, noise=noise)

    @property
    def num_compared(self) -> int:
        """The number of elements that have been compared as numbers."""
        return self.size - self.num_nan - self.num_infinite

    @property
    def is_small(self) -> bool:
        """Whether the difference is within the tolerance."""
        return self.relative <= self.tolerance

    @property
    def allowed(self) -> float:
        """The largest relative difference that is OK, by the tolerance or by rounding."""
        if self.is_limit:
            return self.tolerance
        return max(self.tolerance, min(_NOISE_FACTOR * (self.noise or 0.0), _MOST_EXPLAINED))

    @property
    def is_explained(self) -> bool:
        """Whether rounding alone may give the difference."""
        return self.relative <= _NOISE_FACTOR * (self.noise or 0.0)

    @property
    def verdict(self) -> Verdict:
        """The verdict by the rules above."""
        if self.size and not self.num_compared:
            return Verdict.INCONCLUSIVE
        if self.relative <= self.allowed:
            return Verdict.OK
        if self.is_limit or not self.is_explained:
            return Verdict.FAILED
        return Verdict.INCONCLUSIVE


def overall(differences: Sequence[Difference]) -> Verdict:
    """Return the verdict on a program: failed or inconclusive if that holds for any result.

    Results of which nothing is compared count only if no other result is compared either.
    """
    compared = [each for each in differences if each.num_compared or not each.size]
    verdicts = {each.verdict for each in compared or differences}
    if Verdict.FAILED in verdicts:
        return Verdict.FAILED
    return Verdict.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts else Verdict.OK


def with_last_places_moved(arrays: Sequence[Array], seed: int = 0) -> list[Array]:
    """Return arrays whose floating-point elements are moved by one unit in the last place.

    Each is moved at random, up or down; zeros stay zeros. Other elements stay as they are.
    """
    generator = np.random.default_rng(seed)
    return [_moved(array, generator) for array in arrays]


def _moved(array: Array, generator: np.random.Generator) -> Array:
    if array.dtype.kind == "c":
        parts = _moved(array.real, generator), _moved(array.imag, generator)
        return np.asarray(np.add(parts[0], np.multiply(1j, parts[1])), array.dtype)
    if array.dtype.kind in "biu" or array.size == 0:
        return array
    towards = np.where(generator.integers(0, 2, array.shape), -np.inf, np.inf).astype(array.dtype)
    try:
        moved = np.nextafter(array, towards)
    except TypeError:  # not defined for this small type
        return array
    return np.where(array == 0, array, moved).astype(array.dtype)


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
            return Difference(0.0, 0.0, allowed, found.size)
        distance = abs(found[differs].astype(object) - expected[differs].astype(object))
        absolute = float(max(distance))
        relative = absolute / max(float(np.abs(expected).max()), 1.0)
        return Difference(absolute, relative, allowed, found.size)
    wide = np.complex128 if spec.is_complex else np.float64
    left, right = found.astype(wide), expected.astype(wide)
    finite = np.isfinite(right)
    both_nan = np.isnan(left) & np.isnan(right)
    same = (left == right) | both_nan
    num_nan = int(both_nan.sum())
    num_infinite = int((same & ~both_nan & ~finite).sum())
    if not (same | (finite & np.isfinite(left))).all():
        return Difference(np.inf, np.inf, allowed, found.size, num_nan, num_infinite)
    distance = np.abs(np.where(same, 0, left) - np.where(same, 0, right))
    absolute = float(distance.max(initial=0.0))
    scale = float(np.abs(right[finite]).max(initial=0.0))
    relative = absolute if absolute == 0.0 or scale == 0.0 else absolute / scale
    return Difference(absolute, relative, allowed, found.size, num_nan, num_infinite)


# --- Known defects of backends --------------------------------------------------------------------


_SORT, _COMPARE = "stablehlo.sort", "stablehlo.compare"
_COLLECTIVES = ("stablehlo.all_reduce", "stablehlo.reduce_scatter")


def known_defects(module: ir.Module, backend: str, options: CompileOptions) -> list[str]:
    """Return a sentence for each known defect of a backend that affects a program.

    Args:
        module: the program.
        backend: the name of the backend.
        options: the compile options.
    """
    name = registered(backend).name
    found: list[str] = []
    if name == "interpreter":
        if any(map(_is_of_floats, operations_named({_SORT}, module))):
            found.append("the reference interpreter sorts NaN incorrectly")
        if any(map(_is_total, operations_named({_COMPARE}, module))):
            found.append("the reference interpreter treats -0.0 and 0.0 as equal under TOTALORDER")
    if name == "xla" and not options.nan_safe:
        collectives = operations_named(_COLLECTIVES, module)
        if any(map(drops_nans, collectives)):
            found.append(
                "all-reduces by maximum and minimum drop NaN in XLA on CPUs; '--nan-safe' keeps it "
                "(CompileOptions(nan_safe=True))"
            )
    return found


def _is_of_floats(operation: ir.Operation) -> bool:
    return any(
        isinstance(ir.ShapedType(operand.type).element_type, ir.FloatType)
        for operand in operation.operands
    )


def _is_total(comparison: ir.Operation) -> bool:
    return CompareView(comparison).compare_type == "TOTALORDER"


# --- Random inputs --------------------------------------------------------------------------------


def random_inputs(specs: Iterable[TensorSpec], seed: int) -> list[Array]:
    """Return a random array for each spec; equal seeds give equal arrays.

    Floating-point numbers are uniformly distributed from -1 to 1, those of matrices with a smaller
    width: as for initial weights, the variance is one over the fan-in, the size of the last
    dimension but one, so that the values of a deep program neither grow nor shrink much. Integers
    are 0 to 7 (0 or 1 for types of two bits), so that they are valid indices, tokens and labels.
    """
    generator = np.random.default_rng(seed)
    return [_random_array(spec, generator) for spec in specs]


def _random_array(spec: TensorSpec, generator: np.random.Generator) -> Array:
    kind = spec.dtype.kind
    if kind == "b":
        return generator.integers(0, 2, spec.shape).astype(spec.dtype)
    if kind in "iu":
        limit = 2 if spec.element.endswith("i2") else 8
        return generator.integers(0, limit, spec.shape).astype(spec.dtype)
    fan_in = spec.shape[-2] if len(spec.shape) > 1 else 1
    # The variance of a uniform distribution from -a to a is a * a / 3.
    width = min(1.0, math.sqrt(3 / max(fan_in, 1)))
    numbers = generator.uniform(-width, width, spec.shape)
    if kind == "c":
        numbers = numbers + 1j * generator.uniform(-width, width, spec.shape)
    return np.asarray(numbers, dtype=spec.dtype)
