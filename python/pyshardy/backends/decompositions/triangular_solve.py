# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triangular systems of equations, row by row."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import (
    Tensor,
    constant,
    index_type,
    iota,
    loop,
    where,
)
from pyshardy.irtools.stablehlo_views import TriangularSolveView


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
