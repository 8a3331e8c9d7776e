# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices from Householder reflections, as LAPACK stores these.

A reflection is H = I - tau v v*, with v[0] = 1. The elements of a matrix that a reflection has
eliminated hold v[1:]. See LAPACK Users' Guide, section "Representation of Orthogonal or
Unitary Matrices".
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[Any]
Results = tuple[Any, ...]


def reflection(column: Matrix) -> tuple[Any, Any, Matrix]:
    """Find the reflection that makes all but the first element of a column zero, as `larfg`.

    Returns:
        beta, tau and v with H* column = (beta, 0, ...).
    """
    alpha, rest = column[0], column[1:]
    v = column.copy()
    v[0] = 1
    norm = np.linalg.norm(rest)
    if norm == 0 and np.imag(alpha) == 0:
        v[1:] = 0
        return alpha, 0.0, v
    beta = -np.copysign(np.hypot(abs(alpha), norm), np.real(alpha))
    v[1:] = rest / (alpha - beta)
    return beta, (beta - alpha) / beta, v


def geqrf(_: Mapping[str, Any], a: Matrix) -> Results:
    """A = QR: R in the upper triangle, reflections below it; and their taus."""
    a = a.copy()
    taus = np.zeros(min(a.shape), a.dtype)
    for index in range(len(taus)):
        taus[index] = _eliminate(a, index)
    return a, taus


def geqp3(_: Mapping[str, Any], a: Matrix, pivots: Matrix) -> Results:
    """AP = QR, with the column of the largest norm next; columns with a pivot given come first."""
    given = pivots != 0
    order = np.concatenate([np.flatnonzero(given), np.flatnonzero(~given)])
    fixed = np.count_nonzero(given)
    a = a[:, order]
    taus = np.zeros(min(a.shape), a.dtype)
    for index in range(len(taus)):
        if index >= fixed:
            norms = np.linalg.norm(a[index:, index:], axis=0)
            chosen = index + int(np.argmax(norms))
            for each in (order, a.T):
                each[[index, chosen]] = each[[chosen, index]]
        taus[index] = _eliminate(a, index)
    return a, order + 1, taus


def _eliminate(a: Matrix, index: int) -> Any:
    """Make a column zero below the diagonal, in place; returns the tau."""
    beta, tau, v = reflection(a[index:, index])
    rest = a[index:, index + 1 :]
    rest -= np.conj(tau) * np.outer(v, v.conj() @ rest)
    a[index, index] = beta
    a[index + 1 :, index] = v[1:]
    return tau


def orgqr(_: Mapping[str, Any], a: Matrix, taus: Matrix) -> Results:
    """The first columns of Q = H_1 H_2 ..., as many as A has."""
    return (_applied(a, taus, np.eye(*a.shape, dtype=a.dtype)),)


def ormqr(config: Mapping[str, Any], a: Matrix, taus: Matrix, c: Matrix) -> Results:
    """QC, Q*C, CQ or CQ*."""
    q = _applied(a, taus, np.eye(a.shape[0], dtype=a.dtype))
    if config["transpose"]:
        q = q.conj().T
    return (q @ c if config["left"] else c @ q,)


def _applied(a: Matrix, taus: Matrix, to: Matrix) -> Matrix:
    """H_1 H_2 ... times a matrix, which is changed."""
    for index in reversed(range(len(taus))):
        v = a[index:, index].copy()
        v[0] = 1
        rows = to[index:]
        rows -= taus[index] * np.outer(v, v.conj() @ rows)
    return to


def gehrd(config: Mapping[str, Any], a: Matrix) -> Results:
    """A = Q H Q*, where H has zeros below the first subdiagonal."""
    a = a.copy()
    low, high = config["low"] - 1, config["high"]
    taus = np.zeros(max(len(a) - 1, 0), a.dtype)
    for index in range(low, high - 1):
        beta, tau, v = reflection(a[index + 1 : high, index])
        left, right = a[index + 1 : high, index + 1 :], a[:high, index + 1 : high]
        left -= np.conj(tau) * np.outer(v, v.conj() @ left)
        right -= tau * np.outer(right @ v, v.conj())
        a[index + 1, index] = beta
        a[index + 2 : high, index] = v[1:]
        taus[index] = tau
    return a, taus, np.int32(0)


def sytrd(config: Mapping[str, Any], a: Matrix) -> Results:
    """A = Q T Q* for A = A*, of which one triangle is read; T is tridiagonal and real."""
    size = len(a)
    full, out = hermitian(a, config["uplo"]), a.copy()
    taus = np.zeros(max(size - 1, 0), a.dtype)
    is_lower = config["uplo"] == ord("L")
    off = np.zeros(max(size - 1, 0))
    for step in range(size - 1):
        index = step if is_lower else size - 2 - step
        # The column to eliminate, from the element beside the diagonal away from it.
        rows = np.arange(index + 1, size) if is_lower else np.arange(index, -1, -1)
        column = index if is_lower else index + 1
        beta, tau, v = reflection(full[rows, column])
        block = np.ix_(rows, rows)
        part = full[block] - np.conj(tau) * np.outer(v, v.conj() @ full[block])
        full[block] = part - tau * np.outer(part @ v, v.conj())
        out[rows[1:], column] = v[1:]
        out[rows[0], column] = beta
        off[index], taus[index] = np.real(beta), tau
    diagonal = np.real(np.diagonal(full))
    np.fill_diagonal(out, diagonal)
    return out, diagonal, off, taus, np.int32(0)


def hermitian(a: Matrix, triangle: int) -> Matrix:
    """The matrix of which one triangle is given: 76 ("L") or 85 ("U")."""
    strict = np.tril(a, -1) if triangle == ord("L") else np.triu(a, 1)
    return strict + strict.conj().T + np.diag(np.real(np.diagonal(a))).astype(a.dtype)
