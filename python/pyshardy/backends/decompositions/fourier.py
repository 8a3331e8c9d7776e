# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms, by the algorithm of Cooley and Tukey."""

from __future__ import annotations

import math

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import (
    Tensor,
    array,
    complex_of,
    concatenate,
    constant,
)
from pyshardy.irtools.stablehlo_views import FftView

_DIRECT = 16
"""The largest length of a transform that is computed by a product with a matrix."""


@decomposition("fft")
def decompose_fft(operation: ir.Operation) -> list[Tensor]:
    """Decompose a transform into transforms along single dimensions.

    1. RFFT transforms real numbers along the last dimension, and keeps the first half and the
       middle, of which the others are the conjugates; then along the other dimensions.
    2. IRFFT goes back: along the other dimensions, then along the last one, for which it first
       completes the numbers by the conjugates.
    3. IFFT and IRFFT divide by the number of elements.
    """
    data = Tensor(operation.operands[0])
    view = FftView(operation)
    kind, length = view.fft_type, view.fft_length
    is_inverse = kind in ("IFFT", "IRFFT")
    *others, last = range(data.rank - len(length), data.rank)
    if kind == "RFFT":
        data = complex_of(data, constant(0, data.element, data.shape))
        data = _along(data, last, is_inverse=False).along(last, 0, length[-1] // 2 + 1)
    if kind in ("FFT", "IFFT"):
        others.append(last)
    for axis in others:
        data = _along(data, axis, is_inverse=is_inverse)
    if kind == "IRFFT":
        tail = data.along(last, 1, length[-1] - length[-1] // 2).reverse(last).conjugate()
        data = _along(concatenate([data, tail], last), last, is_inverse=True).real
    return [data / math.prod(length) if is_inverse else data]


def _along(data: Tensor, axis: int, *, is_inverse: bool) -> Tensor:
    """The transform along a dimension, not divided by anything."""
    order = [dim for dim in range(data.rank) if dim != axis]
    order.append(axis)
    back = [order.index(dim) for dim in range(data.rank)]
    moved = data.transpose(*order)
    rows = moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])
    return _along_rows(rows, is_inverse=is_inverse).reshape(*moved.shape).transpose(*back)


def _along_rows(rows: Tensor, *, is_inverse: bool) -> Tensor:
    """The transform of each row of a matrix.

    With a length n = a b, indices b i + j going in and k + a l coming out, for i, k < a and
    j, l < b, it is

        X[k + a l] = sum over j of w(b, j l) w(n, j k) (sum over i of w(a, i k) x[b i + j])

    where w(n, m) is the root of one `exp(-2 pi i m / n)`: a transform of length a, a factor for
    each element, and a transform of length b.
    """
    count, length = rows.shape
    outer = split_of(length)
    if outer == 1:
        return rows @ _roots(
            rows, np.outer(range(length), range(length)), length, is_inverse=is_inverse
        )
    inner = length // outer
    grid = rows.reshape(count, outer, inner).swap_last().reshape(count * inner, outer)
    grid = _along_rows(grid, is_inverse=is_inverse).reshape(count, inner, outer).swap_last()
    factors = _roots(rows, np.outer(range(outer), range(inner)), length, is_inverse=is_inverse)
    grid = (grid * factors).reshape(count * outer, inner)
    grid = _along_rows(grid, is_inverse=is_inverse).reshape(count, outer, inner)
    return grid.swap_last().reshape(count, length)


def split_of(length: int) -> int:
    """The first factor by which a length is split, 1 for none: the largest up to its root.

    Examples: 8 is short and 37 is a prime: 1. 64 is 8 * 8: 8. 96 is 8 * 12: 8.
    """
    if length <= _DIRECT:
        return 1
    return max(a for a in range(1, math.isqrt(length) + 1) if length % a == 0)


def _roots(like: Tensor, exponents: np.ndarray, length: int, *, is_inverse: bool) -> Tensor:
    """The roots of unity with given exponents."""
    sign = 1 if is_inverse else -1
    angles = sign * 2 * np.pi / length * (exponents % length)
    element = ir.ComplexType(like.element).element_type
    return complex_of(array(np.cos(angles)).to(element), array(np.sin(angles)).to(element))
