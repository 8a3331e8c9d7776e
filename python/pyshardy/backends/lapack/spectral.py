# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Singular values, eigenvalues, and the Schur form, as LAPACK has them."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyshardy.backends.lapack.reflections import Matrix, Results

_VECTORS = ord("V")


def gesdd(config: Mapping[str, Any], a: Matrix) -> Results:
    """A = U S V*: all of U and V, as much as A has rows or columns, or nothing of them."""
    mode = chr(config["mode"])
    if mode == "N":
        rows, columns = a.shape
        u, v = np.zeros((rows, rows), a.dtype), np.zeros((columns, columns), a.dtype)
        return a, np.linalg.svd(a, compute_uv=False), u, v, np.int32(0)
    u, s, v = np.linalg.svd(a, full_matrices=mode == "A")
    return a, s, u, v, np.int32(0)


def syevd(config: Mapping[str, Any], a: Matrix) -> Results:
    """A = V W V* for A = A*, of which one triangle is read; W in ascending order."""
    values, vectors = np.linalg.eigh(a, "L" if config["uplo"] == ord("L") else "U")
    return vectors, values, np.int32(0)


def geev(config: Mapping[str, Any], a: Matrix) -> Results:
    """A V = V W and U* A = W U*. Eigenvalues of a real matrix come in two parts."""
    values, right = np.linalg.eig(a)
    zeros = np.zeros(a.shape, np.complex128)
    wanted = config["compute_left"] == _VECTORS, config["compute_right"] == _VECTORS
    left = _normalized(np.linalg.pinv(right).conj().T) if wanted[0] else zeros
    vectors = left, right if wanted[1] else zeros
    if np.iscomplexobj(a):
        return values, *vectors, np.int32(0)
    return np.real(values), np.imag(values), *vectors, np.int32(0)


def _normalized(vectors: Matrix) -> Matrix:
    """The columns with norm 1, and the largest element real."""
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    if not np.iscomplexobj(vectors):
        return vectors
    largest = np.take_along_axis(vectors, abs(vectors).argmax(0, keepdims=True), 0)
    return vectors * (largest.conj() / abs(largest))


def gees(_: Mapping[str, Any], a: Matrix) -> Results:
    """A = Q T Q*, with T upper triangular, or with 2x2 blocks on the diagonal of a real one.

    Eigenvectors are split off one after the other: of the block that is left, those of an
    eigenvalue become the first columns of a basis, in which the block has zeros below them. A pair
    of conjugate eigenvalues of a real matrix takes two columns. See Golub and Van Loan, Matrix
    Computations, 4th edition, section 7.1.3.
    """
    t, q = a.copy(), np.eye(len(a), dtype=a.dtype)
    start = 0
    while start < len(t):
        values, vectors = np.linalg.eig(t[start:, start:])
        value, vector = values[0], vectors[:, 0]
        is_pair = not np.iscomplexobj(a) and np.imag(value) != 0
        if is_pair:
            columns = np.stack([np.real(vector), np.imag(vector)], 1)
        else:
            columns = (vector if np.iscomplexobj(a) else np.real(vector))[:, None]
        _change_basis(t, q, start, np.linalg.qr(columns, "complete")[0])
        step = columns.shape[1]
        t[start + step :, start : start + step] = 0
        if is_pair:
            _change_basis(t, q, start, _standard_basis(t[start : start + 2, start : start + 2]))
            t[start + 1, start + 1] = t[start, start]
        start += step
    if np.iscomplexobj(a):
        return t, q, np.diagonal(t), np.int32(0), np.int32(0)
    values = _eigenvalues(t)
    return t, q, np.real(values), np.imag(values), np.int32(0), np.int32(0)


def _change_basis(t: Matrix, q: Matrix, start: int, basis: Matrix) -> None:
    """Multiply some rows of T by the adjoint of a basis, and columns of T and Q by it."""
    part = slice(start, start + len(basis))
    t[part] = basis.conj().T @ t[part]
    for each in (t, q):
        each[:, part] = each[:, part] @ basis


def _standard_basis(block: Matrix) -> Matrix:
    """The rotation after which the diagonal of a real 2x2 block is constant."""
    angle = np.arctan2(block[0, 0] - block[1, 1], block[0, 1] + block[1, 0]) / 2
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def _eigenvalues(t: Matrix) -> Matrix:
    """The eigenvalues of a real Schur form, by its blocks."""
    values = np.diagonal(t).astype(np.complex128)
    for index in np.flatnonzero(np.diagonal(t, -1)):
        imaginary = np.sqrt(abs(t[index, index + 1])) * np.sqrt(abs(t[index + 1, index]))
        values[index] += 1j * imaginary
        values[index + 1] -= 1j * imaginary
    return values
