# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors of square matrices, and systems of equations, as LAPACK has them."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyshardy.backends.lapack.reflections import Matrix, Results, hermitian


def potrf(config: Mapping[str, Any], a: Matrix) -> Results:
    """A = L L* or U* U in its triangle; the other triangle stays. Info: the order that fails."""
    whole = hermitian(a, config["uplo"])
    try:
        lower = np.linalg.cholesky(whole)
    except np.linalg.LinAlgError:
        return a, np.int32(_first_failing_order(whole))
    if config["uplo"] == ord("L"):
        return np.tril(lower) + np.triu(a, 1), np.int32(0)
    return np.triu(lower.conj().T) + np.tril(a, -1), np.int32(0)


def _first_failing_order(a: Matrix) -> int:
    """The least order of a leading minor that isn't positive."""
    for order in range(1, len(a)):
        try:
            np.linalg.cholesky(a[:order, :order])
        except np.linalg.LinAlgError:
            return order
    return len(a)


def trsm(config: Mapping[str, Any], a: Matrix, b: Matrix) -> Results:
    """The X of op(A) X = B or X op(A) = B, for a triangular A."""
    is_lower = config["uplo"] == ord("L")
    a = np.tril(a) if is_lower else np.triu(a)
    if config["diag"] == ord("U"):
        np.fill_diagonal(a, 1)
    if config["trans_x"] != ord("N"):
        a, is_lower = a.T, not is_lower
    if config["trans_x"] == ord("C"):
        a = a.conj()
    if config["side"] == ord("L"):
        return (_substituted(a, b, is_lower=is_lower),)
    return (_substituted(a.T, b.T, is_lower=not is_lower).T,)


def _substituted(a: Matrix, b: Matrix, *, is_lower: bool) -> Matrix:
    """The X of A X = B. A zero on the diagonal gives infinities, as LAPACK does."""
    x = b.copy()
    order = range(len(a)) if is_lower else reversed(range(len(a)))
    with np.errstate(all="ignore"):
        for row in order:
            known = slice(0, row) if is_lower else slice(row + 1, None)
            x[row] = (x[row] - a[row, known] @ x[known]) / a[row, row]
    return x


def getrf(_: Mapping[str, Any], a: Matrix) -> Results:
    """PA = LU, with the pivots counted from 1. Info: the first pivot that is zero."""
    a = a.copy()
    pivots = np.zeros(min(a.shape), np.int32)
    info = 0
    for index in range(len(pivots)):
        sizes = abs(np.real(a[index:, index])) + abs(np.imag(a[index:, index]))
        chosen = index + int(np.argmax(sizes))
        pivots[index] = chosen + 1
        a[[index, chosen]] = a[[chosen, index]]
        if a[index, index] == 0:
            info = info or index + 1
            continue
        a[index + 1 :, index] /= a[index, index]
        a[index + 1 :, index + 1 :] -= np.outer(a[index + 1 :, index], a[index, index + 1 :])
    return a, pivots, np.int32(info)


def gtsv(
    _: Mapping[str, Any], lower: Matrix, diagonal: Matrix, upper: Matrix, b: Matrix
) -> Results:
    """The X of T X = B for a tridiagonal T; `lower[0]` and `upper[-1]` are outside of it."""
    matrix = np.diag(diagonal) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1)
    try:
        x, info = np.linalg.solve(matrix, b), 0
    except np.linalg.LinAlgError:
        x, info = np.full_like(b, np.nan), len(matrix)
    return lower, diagonal, upper, x, np.int32(info)
