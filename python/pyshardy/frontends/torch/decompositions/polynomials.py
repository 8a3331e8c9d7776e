# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orthogonal polynomials of `torch.special`, by their recurrences."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.chebyshev import evaluated
from pyshardy.frontends.torch.decompositions.registry import decomposition

Step = Callable[[int, Any, Any, Any], Any]
"""Returns the polynomial of degree k + 1, from k, x, and those of degrees k and k - 1."""


def _chebyshev(_: int, x: Any, last: Any, before: Any) -> Any:
    return 2 * x * last - before


def _register(name: str, first: Callable[[Any], Any], step: Step, *, shifted: bool = False) -> None:
    """Register a family of polynomials, whose degree 0 is 1.

    Args:
        name: the name in `torch.special`.
        first: the polynomial of degree 1.
        step: the recurrence.
        shifted: whether the interval is 0 to 1, instead of -1 to 1.
    """

    @decomposition(f"aten.special_{name}.n_scalar")
    def polynomial(x: Tensor, n: int) -> Tensor:  # pyright: ignore[reportUnusedFunction]
        def of(x: Tensor) -> Tensor:
            x = 2 * x - 1 if shifted else x
            before, last = torch.zeros_like(x), torch.ones_like(x)
            for degree in range(int(n)):
                after = first(x) if degree == 0 else step(degree, x, last, before)
                before, last = last, after
            return torch.zeros_like(x) if n < 0 else last

        return evaluated(of, x)


_FIRST_OF_CHEBYSHEV: dict[str, Callable[[Any], Any]] = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}
for _kind, _first in _FIRST_OF_CHEBYSHEV.items():
    _register(f"chebyshev_polynomial_{_kind}", _first, _chebyshev)
    _register(f"shifted_chebyshev_polynomial_{_kind}", _first, _chebyshev, shifted=True)

_register(
    "hermite_polynomial_h",
    lambda x: 2 * x,
    lambda k, x, last, before: 2 * x * last - 2 * k * before,
)
_register("hermite_polynomial_he", lambda x: x, lambda k, x, last, before: x * last - k * before)
_register(
    "laguerre_polynomial_l",
    lambda x: 1 - x,
    lambda k, x, last, before: ((2 * k + 1 - x) * last - k * before) / (k + 1),
)
_register(
    "legendre_polynomial_p",
    lambda x: x,
    lambda k, x, last, before: ((2 * k + 1) * x * last - k * before) / (k + 1),
)
