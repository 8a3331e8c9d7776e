# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes from their numbers at several values of symbols."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from mlir_sdy.late_numpy import np
from pyshardy.sizes.size import Size

Numbers = tuple[int, ...]
"""A number at each of the values of the symbols."""

_FEWEST_POINTS = 3
"""The points through which a line isn't taken by chance."""

_TOLERANCE = 1e-6


class Expressions:
    """Finds the sizes that have given numbers at the values of symbols."""

    def __init__(self, values: Sequence[Mapping[str, int]], sizes: Iterable[Size]):
        known = dict.fromkeys([*map(Size.symbol, values[0]), *sizes])
        pairs = (left * right for left, right in itertools.combinations_with_replacement(known, 2))
        self._known = {
            each: tuple(each.evaluate(one) for one in values) for each in [*known, *pairs]
        }
        self._found: dict[Numbers, Size | None] = {}

    def of(self, numbers: Numbers) -> Size | None:
        """Return the size with given numbers; None if there is none."""
        if numbers not in self._found:
            self._found[numbers] = self._linear(numbers)
        return self._found[numbers]

    def _linear(self, numbers: Numbers) -> Size | None:
        if len(set(numbers)) == 1:
            return Size.of(numbers[0])
        if len(numbers) < _FEWEST_POINTS:
            return None
        for size, known in self._known.items():
            factor, rest = divmod(numbers[1] - numbers[0], (known[1] - known[0]) or math.inf)
            if rest or not factor:
                continue
            offset = numbers[0] - int(factor) * known[0]
            if all(n == factor * k + offset for n, k in zip(numbers, known, strict=True)):
                return int(factor) * size + int(offset)
        return None

    def ratio(self, numbers: Sequence[float]) -> tuple[Size, Size] | None:
        """Return sizes `n` and `n - 1` whose quotient has given numbers, as variances have it."""
        if min(numbers, default=0) <= 1:
            return None
        counts = [round(each / (each - 1)) for each in numbers]
        size = self.of(tuple(counts))
        pairs = zip(numbers, counts, strict=True)
        if size is None or not all(
            math.isclose(each * (n - 1), n, rel_tol=_TOLERANCE) for each, n in pairs
        ):
            return None
        return size, size - 1

    def scaled(self, numbers: Sequence[float]) -> tuple[float, Size, float] | None:
        """Return a factor, a size and a power whose product has given numbers; None for none."""
        for power in (-1.0, 0.5, -0.5):
            for size, known in self._known.items():
                if min(known) < 1:
                    continue
                factors = [n / k**power for n, k in zip(numbers, known, strict=True)]
                if math.isclose(min(factors), max(factors), rel_tol=_TOLERANCE):
                    return factors[0], size, power
        return None


def polynomial(points: Sequence[Mapping[str, int]], numbers: Sequence[int]) -> Size | None:
    """Return the quadratic polynomial with given numbers at values of symbols; None for none.

    Args:
        points: values of the symbols; more than a polynomial has coefficients, to verify it.
        numbers: the number at each of them.
    """
    symbols = [Size.of(1), *map(Size.symbol, points[0])]
    monomials = [a * b for a, b in itertools.combinations_with_replacement(symbols, 2)]
    if len(points) <= len(monomials):
        return None
    rows = np.array([[each.evaluate(point) for each in monomials] for point in points], float)
    scale = np.abs(rows).max(0)
    solve = cast("Any", np.linalg.lstsq)
    factors: list[float] = (solve(rows / scale, np.array(numbers, float))[0] / scale).tolist()
    terms = (round(n) * each for n, each in zip(factors, monomials, strict=True))
    size = sum(terms, start=Size.of(0))
    found = [size.evaluate(point) for point in points]
    return size if found == list(numbers) else None
