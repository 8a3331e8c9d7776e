# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The routines of LAPACK that JAX calls on CPUs, in NumPy, for engines that don't have them.

Each works on one matrix, in double precision, and stores its results as LAPACK does.

A Householder reflection is H = I - tau v v*, with v[0] = 1. The elements of a matrix that a
reflection has eliminated hold v[1:]. See LAPACK Users' Guide, section "Representation of Orthogonal
or Unitary Matrices".
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pyshardy.backends.custom_calls import Function
from pyshardy.local_program.custom_calls import CustomCall
from pyshardy.local_program.tensor_spec import Array

Matrix = npt.NDArray[Any]
Results = tuple[Any, ...]
_VECTORS = ord("V")


# --- Householder reflections: QR, Hessenberg and tridiagonal form ---------------------------------


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


# --- Factors of square matrices, and systems of equations -----------------------------------------


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


# --- Singular values, eigenvalues, and the Schur form ---------------------------------------------


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


# --- Custom calls ---------------------------------------------------------------------------------


class _Routine(NamedTuple):
    """A LAPACK routine.

    Attributes:
        run: takes the configuration of a call and the operands for one matrix, and returns the
            results.
        ranks: the ranks of these operands.
        of_complex: the name of the routine for complex numbers, if it differs.
    """

    run: Callable[..., tuple[Any, ...]]
    ranks: tuple[int, ...]
    of_complex: str = ""


_ROUTINES: dict[str, _Routine] = {
    "gees": _Routine(gees, (2,)),
    "geev": _Routine(geev, (2,)),
    "gehrd": _Routine(gehrd, (2,)),
    "geqp3": _Routine(geqp3, (2, 1)),
    "geqrf": _Routine(geqrf, (2,)),
    "gesdd": _Routine(gesdd, (2,)),
    "gesvd": _Routine(gesdd, (2,)),
    "getrf": _Routine(getrf, (2,)),
    "gtsv": _Routine(gtsv, (1, 1, 1, 2)),
    "orgqr": _Routine(orgqr, (2, 1), "ungqr"),
    "ormqr": _Routine(ormqr, (2, 1, 2), "unmqr"),
    "potrf": _Routine(potrf, (2,)),
    "syevd": _Routine(syevd, (2,), "heevd"),
    "sytrd": _Routine(sytrd, (2,), "hetrd"),
    "trsm": _Routine(trsm, (2, 2)),
}
_WIDE = {"f": np.float64, "c": np.complex128}
_TARGET = "lapack_{kind}{name}_ffi"


def _functions() -> Mapping[str, Function]:
    found: dict[str, Function] = {}
    for name, routine in _ROUTINES.items():
        function = _of_batches(routine)
        for kind in "sd":
            found[_TARGET.format(kind=kind, name=name)] = function
        for kind in "cz":
            found[_TARGET.format(kind=kind, name=routine.of_complex or name)] = function
    return found


def _of_batches(routine: _Routine) -> Function:
    """Return the routine for batches of matrices; batch dimensions come first."""

    def run(*arrays: Array, call: CustomCall) -> tuple[Array, ...]:
        results = tuple(np.zeros(spec.shape, spec.dtype) for spec in call.results)
        config: Mapping[str, Any] = {} if isinstance(call.config, str) else call.config
        wide = [array.astype(_WIDE.get(array.dtype.kind, array.dtype)) for array in arrays]
        batch = arrays[0].shape[: arrays[0].ndim - routine.ranks[0]]
        for index in itertools.product(*map(range, batch)):
            try:
                made = routine.run(config, *(each[index] for each in wide))
            except np.linalg.LinAlgError:  # no convergence, for example with NaNs
                made = [np.nan if each.dtype.kind in "fc" else 1 for each in results]
            for result, value in zip(results, made, strict=True):
                # A real matrix may have real eigenvectors in a complex array.
                result[index] = value
        return results

    return run


FUNCTIONS = _functions()
"""The function for each custom call, by its target."""
