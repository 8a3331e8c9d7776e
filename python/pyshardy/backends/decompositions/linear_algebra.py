# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cholesky factors, triangular systems, and convolutions.

A Cholesky factor is computed column by column, and the solution of a triangular system row by row.
A convolution of any layout becomes one of a fixed layout.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.element_types import added_up_wide, is_narrow
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import (
    Tensor,
    complex_of,
    constant,
    index_type,
    iota,
    loop,
    where,
)
from pyshardy.irtools.stablehlo_views import CholeskyView, ConvolutionView, TriangularSolveView


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
    if to_data == to_kernel == to_result == in_order and not is_narrow(data):
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
