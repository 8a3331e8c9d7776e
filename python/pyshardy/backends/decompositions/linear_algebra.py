# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cholesky factors, triangular systems, convolutions, and Fourier transforms.

A Cholesky factor is computed column by column, and the solution of a triangular system row by row.
A convolution of any layout becomes one of a fixed layout.
"""

from __future__ import annotations

import math

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.element_types import added_up_wide, is_narrow
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import (
    Tensor,
    array,
    complex_of,
    concatenate,
    constant,
    index_type,
    iota,
    loop,
    where,
)
from pyshardy.irtools.stablehlo_views import (
    CholeskyView,
    ConvolutionView,
    FftView,
    TriangularSolveView,
)


@decomposition("cholesky")
def decompose_cholesky(operation: ir.Operation) -> list[Tensor]:
    """L with A = L L*, or U with A = U* U, each from its own triangle of A.

    1. L begins as zeros.
    2. Column j of A, less what the columns before j contribute, `L @ conj(L[j])`, is column j of
       L times its pivot: the square root of its element j.
    3. U is the conjugate transpose of L of the conjugate transpose of A.

    Example: `[[4, 2], [2, 10]]` is L L* with `L = [[2, 0], [1, 3]]`.
    """
    matrix = Tensor(operation.operands[0])
    if CholeskyView(operation).lower:
        return [_lower_factor(matrix)]
    return [_adjoint(_lower_factor(_adjoint(matrix)))]


def _adjoint(matrix: Tensor) -> Tensor:
    return matrix.swap_last().conjugate()


def _lower_factor(matrix: Tensor) -> Tensor:
    rows, columns = matrix.rank - 2, matrix.rank - 1
    size = matrix.shape[rows]
    row_numbers = iota(size).reshape(size, 1)

    def add_column(index: Tensor, factor: Tensor) -> list[Tensor]:
        contributed = factor @ _adjoint(factor.at(rows, index))
        column = matrix.at(columns, index) - contributed
        pivot = _real_root(column.at(rows, index))
        column = where(row_numbers >= index, column / pivot, 0)
        return [factor.put(columns, index, column)]

    (factor,) = loop(size, [constant(0, matrix.element, matrix.shape)], add_column)
    return factor


def _real_root(square: Tensor) -> Tensor:
    """The root of a number that is real, whatever its type."""
    if not square.is_complex:
        return square.sqrt()
    root = square.real.sqrt()
    return complex_of(root, root - root)


# --- Triangular systems ---------------------------------------------------------------------------


@decomposition("triangular_solve")
def decompose_triangular_solve(operation: ir.Operation) -> list[Tensor]:
    """X with op(A) X = B or X op(A) = B.

    1. op(A) is computed explicitly; transposing a lower triangle gives an upper one.
    2. X op(A) = B is op(A)^T X^T = B^T.
    3. X begins as zeros. Row i of B, less what the rows of X found before contribute,
       `A[i] @ X`, is row i of X times A[i, i], or times 1 for a unit diagonal. Lower triangles
       are solved from the first row on, upper ones from the last.

    Example: `[[2, 0], [1, 3]] X = [[4], [8]]` has `X = [[2], [2]]`.
    """
    matrix, values = map(Tensor, operation.operands)
    view = TriangularSolveView(operation)
    is_lower = view.lower
    # The other triangle is undefined and may hold NaN.
    matrix = _triangle(matrix, is_lower=is_lower)
    change = view.transpose_a
    if change != "NO_TRANSPOSE":
        matrix, is_lower = matrix.swap_last(), not is_lower
    if change == "ADJOINT":
        matrix = matrix.conjugate()
    has_units = view.unit_diagonal
    if view.left_side:
        return [_solve(matrix, values, is_lower=is_lower, has_units=has_units)]
    matrix, values = matrix.swap_last(), values.swap_last()
    return [_solve(matrix, values, is_lower=not is_lower, has_units=has_units).swap_last()]


def _triangle(matrix: Tensor, *, is_lower: bool) -> Tensor:
    size = matrix.shape[-1]
    rows, columns = iota(size).reshape(size, 1), iota(size).reshape(1, size)
    return where(rows >= columns if is_lower else rows <= columns, matrix, 0)


def _solve(matrix: Tensor, values: Tensor, *, is_lower: bool, has_units: bool) -> Tensor:
    rows, columns = matrix.rank - 2, matrix.rank - 1
    size = matrix.shape[rows]

    def add_row(trip: Tensor, solution: Tensor) -> list[Tensor]:
        index = trip if is_lower else constant(size - 1, index_type()) - trip
        equation = matrix.at(rows, index)
        row = values.at(rows, index) - equation @ solution
        if not has_units:
            row = row / equation.at(columns, index)
        return [solution.put(rows, index, row)]

    nothing = constant(0, values.element, values.shape)
    (solution,) = loop(size, [nothing], add_row)
    return solution


# --- Convolutions ---------------------------------------------------------------------------------


@decomposition("convolution")
def decompose_convolution(operation: ir.Operation) -> list[Tensor] | None:
    """Operands and result are transposed to `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.

    Products of narrow floating-point numbers are added up in f32.
    """
    numbers = ConvolutionView(operation).dimension_numbers
    data, kernel = map(Tensor, operation.operands)
    result = Tensor(operation.result)
    to_data = [
        numbers.input_batch_dimension,
        *numbers.input_spatial_dimensions,
        numbers.input_feature_dimension,
    ]
    to_kernel = [
        *numbers.kernel_spatial_dimensions,
        numbers.kernel_input_feature_dimension,
        numbers.kernel_output_feature_dimension,
    ]
    to_result = [
        numbers.output_batch_dimension,
        *numbers.output_spatial_dimensions,
        numbers.output_feature_dimension,
    ]
    in_order = list(range(data.rank))
    if to_data == to_kernel == to_result == in_order and not is_narrow(data.element):
        return None
    spatial = ", ".join(map(str, range(data.rank - 2)))
    within = f"{spatial}, " if spatial else ""
    ordered = ir.Attribute.parse(f"#stablehlo.conv<[b, {within}f]x[{within}i, o]->[b, {within}f]>")
    convolved = added_up_wide(
        "convolution",
        (data.transpose(*to_data), kernel.transpose(*to_kernel)),
        result.with_shape([result.shape[dim] for dim in to_result]),
        {**dict(operation.attributes.items()), ConvolutionView.dimension_numbers.name: ordered},
    )
    return [convolved.transpose(*(to_result.index(dim) for dim in in_order))]


# --- Fourier transforms ---------------------------------------------------------------------------


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
