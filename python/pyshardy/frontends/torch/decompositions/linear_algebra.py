# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra, from factorizations and triangular systems."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition


@decomposition("aten.addmv")
def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Add the product of a matrix and a vector."""
    return _scaled_sum(self, mat @ vec, beta, alpha)


@decomposition("aten.addbmm")
def addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """Add the sum of products of matrices."""
    return _scaled_sum(self, torch.sum(torch.bmm(batch1, batch2), 0), beta, alpha)


def _scaled_sum(self: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    if not (self.is_floating_point() or self.is_complex()):  # PyTorch drops the fractions
        beta, alpha = int(beta), int(alpha)
    scaled = product if alpha == 1 else alpha * product
    return scaled.to(self.dtype) if beta == 0 else scaled + (self if beta == 1 else beta * self)


@decomposition("aten.norm.Scalar", "aten.norm.ScalarOpt_dim", "aten.norm.ScalarOpt_dim_dtype")
def norm(
    self: Tensor, p: float | None = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the norm of all elements, or the norms along dimensions."""
    order = 2 if p is None else p
    return torch.linalg.vector_norm(self, order, dim or None, keepdim, dtype=dtype)


@decomposition("aten.linalg_qr")
def qr(A: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Factor matrices into orthogonal and triangular ones."""
    rows, columns = A.shape[-2:]
    least = min(rows, columns)
    factors, scales = torch.geqrf(A)
    r = torch.triu(factors)
    if mode == "r":
        return A.new_empty((0,)), r.narrow(-2, 0, least)
    if mode == "complete" and rows > columns:
        factors = torch.nn.functional.pad(factors, (0, rows - columns))
        return torch.linalg.householder_product(factors, scales), r
    factors = factors.narrow(-1, 0, least)
    return torch.linalg.householder_product(factors, scales), r.narrow(-2, 0, least)


@decomposition("aten.linalg_lu_solve")
def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
) -> Tensor:
    """Solve systems whose matrices are factored."""
    if not left:  # X A = B is A* X* = B*
        return lu_solve(LU, pivots, B.mH, left=True, adjoint=not adjoint).mH
    order = _permutation(pivots, LU.shape[-1])
    if adjoint:
        x = torch.linalg.solve_triangular(LU.mH, B, upper=False)
        x = torch.linalg.solve_triangular(LU.mH, x, upper=True, unitriangular=True)
        return _rows(x, torch.argsort(order, -1))
    x = torch.linalg.solve_triangular(LU, _rows(B, order), upper=False, unitriangular=True)
    return torch.linalg.solve_triangular(LU, x, upper=True)


def _permutation(pivots: Tensor, rows: int) -> Tensor:
    """Return the order of rows after the exchanges that LAPACK made."""
    order = torch.arange(rows).expand((*pivots.shape[:-1], rows))
    positions = torch.arange(rows)
    for step in range(pivots.shape[-1]):
        other = pivots.narrow(-1, step, 1).long() - 1
        here, there = order.narrow(-1, step, 1), torch.gather(order, -1, other)
        order = torch.where(positions == step, there, torch.where(positions == other, here, order))
    return order


def _rows(matrix: Tensor, order: Tensor) -> Tensor:
    """Return the rows of matrices in an order."""
    batch = torch.broadcast_shapes(matrix.shape[:-2], order.shape[:-1])
    matrix = matrix.expand((*batch, *matrix.shape[-2:]))
    indices = order.expand((*batch, order.shape[-1])).unsqueeze(-1)
    return torch.gather(matrix, -2, indices.expand((*indices.shape[:-1], matrix.shape[-1])))


@decomposition("aten.lu_unpack")
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the factors of matrices, and the permutations of their rows."""
    rows, columns = LU_data.shape[-2:]
    least = min(rows, columns)
    nothing = LU_data.new_empty((0,))
    p, lower, upper = nothing, nothing, nothing
    if unpack_pivots:
        order = _permutation(LU_pivots, rows)
        p = (order.unsqueeze(-2) == torch.arange(rows).unsqueeze(-1)).to(LU_data.dtype)
    if unpack_data:
        eye = torch.eye(rows, least, dtype=LU_data.dtype)
        lower = torch.tril(LU_data.narrow(-1, 0, least), -1) + eye
        upper = torch.triu(LU_data.narrow(-2, 0, least))
    return p, lower, upper


@decomposition("aten.linalg_lu")
def lu(A: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """Factor matrices into triangular ones."""
    factors, pivots = torch.linalg.lu_factor(A)
    return lu_unpack(factors, pivots)


@decomposition("aten._linalg_solve_ex")
def solve(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Solve systems of equations."""
    is_vector = B.dim() == 1 or B.shape == A.shape[:-1]
    rhs = B.unsqueeze(-1) if is_vector else B
    factors, pivots, info = torch.linalg.lu_factor_ex(A)
    x = lu_solve(factors, pivots, rhs, left=left)
    return x.squeeze(-1) if is_vector else x, factors, pivots, info


@decomposition("aten.linalg_inv_ex")
def inverse(A: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """Invert matrices."""
    factors, pivots, info = torch.linalg.lu_factor_ex(A)
    return lu_solve(factors, pivots, torch.eye(A.shape[-1], dtype=A.dtype)), info


@decomposition("aten._linalg_det")
def determinant(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return determinants."""
    factors, pivots, _ = torch.linalg.lu_factor_ex(_as_columns(A))
    diagonal = torch.diagonal(factors, dim1=-2, dim2=-1)
    return torch.prod(diagonal, -1) * _parity(pivots).to(A.dtype), factors, pivots


@decomposition("aten._linalg_slogdet")
def slogdet(A: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the signs of determinants, and the logarithms of their absolute values."""
    factors, pivots, _ = torch.linalg.lu_factor_ex(_as_columns(A))
    diagonal = torch.diagonal(factors, dim1=-2, dim2=-1)
    sign = torch.prod(torch.sgn(diagonal), -1) * _parity(pivots).to(A.dtype)
    return sign, torch.sum(torch.log(torch.abs(diagonal)), -1), factors, pivots


def _as_columns(A: Tensor) -> Tensor:
    """Return matrices transposed if PyTorch factors them so, whose gradients use the factors."""
    return A.mT if A.is_contiguous() and not A.is_complex() else A


def _parity(pivots: Tensor) -> Tensor:
    """Return -1 for an odd number of exchanges of rows, and 1 for an even one."""
    exchanges = torch.sum(pivots != torch.arange(1, pivots.shape[-1] + 1), -1)
    return 1 - 2 * torch.remainder(exchanges, 2)


@decomposition("aten.cholesky")
def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """Factor positive definite matrices into triangular ones."""
    return torch.linalg.cholesky_ex(self, upper=upper)[0]


@decomposition("aten.cholesky_solve", "aten._cholesky_solve_helper")
def cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solve systems whose matrices are factored by Cholesky."""
    lower = input2.mH if upper else input2
    x = torch.linalg.solve_triangular(lower, self, upper=False)
    return torch.linalg.solve_triangular(lower.mH, x, upper=True)


@decomposition("aten.cholesky_inverse")
def cholesky_inverse(self: Tensor, upper: bool = False) -> Tensor:
    """Invert matrices that are factored by Cholesky."""
    return cholesky_solve(torch.eye(self.shape[-1], dtype=self.dtype), self, upper)


@decomposition("aten.triangular_solve")
def triangular_solve(
    self: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Tensor, Tensor]:
    """Solve systems with triangular matrices."""
    matrix, is_upper = (A.mT, not upper) if transpose else (A, upper)
    x = torch.linalg.solve_triangular(matrix, self, upper=is_upper, unitriangular=unitriangular)
    return x, A.clone()


@decomposition("aten.ormqr")
def ormqr(
    self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """Multiply by a product of reflections."""
    rows, columns = self.shape[-2:]
    factors = torch.nn.functional.pad(self, (0, rows - columns)) if rows > columns else self
    q = torch.linalg.householder_product(factors, input2)
    q = q.mH if transpose else q
    return q @ input3 if left else input3 @ q


@decomposition("aten.linalg_matrix_exp")
def matrix_exp(self: Tensor) -> Tensor:
    """Return the exponentials of matrices, by the Taylor polynomial of a scaled matrix, squared."""
    norm = torch.amax(torch.sum(torch.abs(self), -2), -1)
    squarings = torch.clamp(torch.ceil(torch.log2(torch.clamp(norm, min=1e-30))) + 1, 0, 20)
    scaled = self * torch.exp2(-squarings).unsqueeze(-1).unsqueeze(-1).to(self.dtype)
    eye = torch.eye(self.shape[-1], dtype=self.dtype)
    result = eye.expand(self.shape)
    for order in range(18, 0, -1):  # Horner's scheme; the norm is at most one half
        result = eye + (scaled @ result) / order
    for step in range(20):
        is_squared = (squarings > step).unsqueeze(-1).unsqueeze(-1)
        result = torch.where(is_squared, result @ result, result)
    return result


@decomposition("aten.linalg_pinv.atol_rtol_tensor")
def pinv(
    self: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: bool = False,
) -> Tensor:
    """Return pseudo-inverses, by singular values above a tolerance."""
    # Of Hermitian matrices only the lower triangle counts.
    matrix = torch.tril(self) + torch.tril(self, -1).mH if hermitian else self
    u, s, vh = torch.linalg.svd(matrix, full_matrices=False)
    largest = torch.amax(s, -1, keepdim=True)
    if rtol is not None:
        limit = rtol.unsqueeze(-1) * largest
    elif atol is None:
        limit = torch.finfo(s.dtype).eps * max(self.shape[-2:]) * largest
    else:
        limit = torch.zeros_like(largest)
    if atol is not None:
        limit = torch.maximum(limit, atol.unsqueeze(-1).to(s.dtype))
    inverse = torch.where(s > limit, 1 / s, 0).to(self.dtype)
    return (vh.mH * inverse.unsqueeze(-2)) @ u.mH
