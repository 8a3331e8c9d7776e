# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Cholesky factor, column by column."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, complex_of, constant, iota, loop, where
from pyshardy.irtools.stablehlo_views import CholeskyView


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
