# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factorizations of matrices, as the custom calls of LAPACK that JAX uses on CPUs.

Where LAPACK fails, for a matrix that isn't positive definite or without convergence, the results
are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.attributes import attribute_of
from mlir_sdy.host import ir
from mlir_sdy.model import DimMapping, OpShardingRule, Shape, TensorMapping
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering, part_type_of
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape

_KINDS = {"f32": "s", "f64": "d", "complex<f32>": "c", "complex<f64>": "z"}


@lowering("aten.linalg_cholesky_ex")
def cholesky(
    build: LoweringBuilder, matrix: ir.Value, upper: bool = False, check_errors: bool = False
) -> Sequence[ir.Value]:
    """Factor positive definite matrices into triangular ones."""
    uplo = "U" if upper else "L"
    factor, info = _lapack(build, "potrf", [matrix], [matrix.type, _info(matrix)], uplo=uplo)
    factor = _nan_unless_zero(build, info, factor)
    return [_triangle(build, factor, upper=upper), info]


@lowering("aten.linalg_lu_factor_ex")
def lu_factor(
    build: LoweringBuilder, matrix: ir.Value, pivot: bool = True, check_errors: bool = False
) -> Sequence[ir.Value]:
    """Factor matrices into triangular ones, in one matrix, with exchanged rows."""
    shape = shape_of(matrix.type)
    pivots = _tensor(32, [*shape[:-2], min(shape[-2:])])
    return _lapack(build, "getrf", [matrix], [matrix.type, pivots, _info(matrix)])


@lowering("aten.geqrf")
def qr_factor(build: LoweringBuilder, matrix: ir.Value) -> Sequence[ir.Value]:
    """Factor matrices into a triangular matrix and reflections, in one matrix."""
    shape = shape_of(matrix.type)
    scales = with_shape(matrix.type, [*shape[:-2], min(shape[-2:])])
    return _lapack(build, "geqrf", [matrix], [matrix.type, scales])


@lowering("aten.linalg_householder_product")
def reflections(build: LoweringBuilder, matrix: ir.Value, scales: ir.Value) -> ir.Value:
    """Return the product of reflections."""
    routine = "ungqr" if part_type_of(matrix) else "orgqr"
    return _lapack(build, routine, [matrix, scales], [matrix.type])[0]


@lowering("aten._linalg_eigh")
def eigh(
    build: LoweringBuilder, matrix: ir.Value, uplo: str = "L", compute_v: bool = True
) -> Sequence[ir.Value]:
    """Return the eigenvalues and eigenvectors of Hermitian matrices."""
    values = _tensor_of_reals(matrix, shape_of(matrix.type)[:-1])
    routine = "heevd" if part_type_of(matrix) else "syevd"
    results = [matrix.type, values, _info(matrix)]
    vectors, eigenvalues, info = _lapack(build, routine, [matrix], results, mode="V", uplo=uplo)
    eigenvalues = _nan_unless_zero(build, info, eigenvalues)
    if not compute_v:
        return [eigenvalues, build.empty(build.result_types[1])]
    return [eigenvalues, _nan_unless_zero(build, info, vectors)]


@lowering("aten._linalg_svd")
def svd(
    build: LoweringBuilder,
    matrix: ir.Value,
    full_matrices: bool = False,
    compute_uv: bool = True,
    driver: str | None = None,
) -> Sequence[ir.Value]:
    """Return the singular values and vectors of matrices."""
    *batch, rows, columns = shape_of(matrix.type)
    least = min(rows, columns)
    left = with_shape(matrix.type, [*batch, rows, rows if full_matrices else least])
    right = with_shape(matrix.type, [*batch, columns if full_matrices else least, columns])
    values = _tensor_of_reals(matrix, [*batch, least])
    results = [matrix.type, values, left, right, _info(matrix)]
    mode = "A" if full_matrices else "S"
    _, *factors, info = _lapack(build, "gesdd", [matrix], results, mode=mode)
    s, u, vh = (_nan_unless_zero(build, info, each) for each in factors)
    if not compute_uv:
        return [build.empty(build.result_types[0]), s, build.empty(build.result_types[2])]
    return [u, s, vh]


@lowering("aten.linalg_eig")
def eig(build: LoweringBuilder, matrix: ir.Value) -> Sequence[ir.Value]:
    """Return the eigenvalues and eigenvectors of square matrices, which are complex."""
    shape = shape_of(matrix.type)
    values, vectors = build.result_types
    tail = [vectors, vectors, _info(matrix)]
    config = {"compute_left": "N", "compute_right": "V"}
    if part_type_of(matrix):
        eigenvalues, _, right, info = _lapack(build, "geev", [matrix], [values, *tail], **config)
    else:
        part = with_shape(matrix.type, shape[:-1])
        real, imag, _, right, info = _lapack(build, "geev", [matrix], [part, part, *tail], **config)
        eigenvalues = build.complex(real, imag)
    return [_nan_unless_zero(build, info, each) for each in (eigenvalues, right)]


@lowering("aten.linalg_solve_triangular")
def solve_triangular(
    build: LoweringBuilder,
    matrix: ir.Value,
    rhs: ir.Value,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> ir.Value:
    """Solve systems with triangular matrices."""
    batch = shape_of(build.result_types[0])[:-2]
    matrix, rhs = (_with_batch(build, each, batch) for each in (matrix, rhs))
    attributes = {
        "left_side": ir.BoolAttr.get(left),
        "lower": ir.BoolAttr.get(not upper),
        "unit_diagonal": ir.BoolAttr.get(unitriangular),
        "transpose_a": ir.Attribute.parse("#stablehlo<transpose NO_TRANSPOSE>"),
    }
    name = "stablehlo.triangular_solve"
    return build.create(name, (matrix, rhs), (rhs.type,), attributes).result


def _lapack(
    build: LoweringBuilder,
    routine: str,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    **config: str,
) -> Sequence[ir.Value]:
    """Build a call of a LAPACK routine for batches of matrices.

    Args:
        build: the builder.
        routine: the name, without the letter of the element type.
        operands: the matrices first.
        results: the types of all results, including the information about failures.
        config: the letters that configure the routine.
    """
    if any(0 in shape_of(value.type) for value in operands):
        return [_of_nothing(build, each) for each in results]
    num_batch_dims = len(shape_of(operands[0].type)) - 2
    kind = _KINDS[str(element_type_of(operands[0].type))]
    letters = ", ".join(f"{name} = {ord(letter)} : ui8" for name, letter in config.items())
    types = [value.type for value in operands]
    attributes = {
        "mhlo.backend_config": ir.Attribute.parse(f"{{{letters}}}"),
        "mhlo.frontend_attributes": ir.Attribute.parse(f'{{num_batch_dims = "{num_batch_dims}"}}'),
        "operand_layouts": _layouts(types, num_batch_dims),
        "result_layouts": _layouts(results, num_batch_dims),
        "sdy.sharding_rule": attribute_of(_batch_rule(types, results, num_batch_dims)),
    }
    target = f"lapack_{kind}{routine}_ffi"
    return list(build.custom_call(target, operands, results, attributes).results)


def _layouts(types: Sequence[ir.Type], num_batch_dims: int) -> ir.Attribute:
    """Return layouts with matrices in the order of columns, as LAPACK has them."""
    texts: list[str] = []
    for each in types:
        rank = len(shape_of(each))
        batch, inner = range(min(num_batch_dims, rank)), range(num_batch_dims, rank)
        order = [*inner, *reversed(batch)]
        texts.append(f"dense<{order}> : tensor<{rank}xindex>")
    return ir.Attribute.parse(f"[{', '.join(texts)}]")


def _batch_rule(
    operands: Sequence[ir.Type], results: Sequence[ir.Type], num_batch_dims: int
) -> OpShardingRule:
    """Return the rule that propagates shardings along batch dimensions only."""
    sizes = list(shape_of(operands[0])[:num_batch_dims])

    def mapping(tensor: ir.Type) -> TensorMapping:
        dims = [DimMapping((dim,)) for dim in range(num_batch_dims)]
        for size in shape_of(tensor)[num_batch_dims:]:
            dims.append(DimMapping((len(sizes),)))
            sizes.append(size)
        return TensorMapping(tuple(dims))

    of_operands, of_results = (tuple(map(mapping, each)) for each in (operands, results))
    return OpShardingRule(tuple(sizes), of_operands, of_results, is_custom_rule=True)


def _info(matrix: ir.Value) -> ir.Type:
    return _tensor(32, shape_of(matrix.type)[:-2])


def _tensor(width: int, shape: Sequence[int]) -> ir.Type:
    return ir.RankedTensorType.get(list(shape), ir.IntegerType.get_signless(width))


def _tensor_of_reals(matrix: ir.Value, shape: Sequence[int]) -> ir.Type:
    real = part_type_of(matrix) or element_type_of(matrix.type)
    return with_element(with_shape(matrix.type, shape), real)


def _nan_unless_zero(build: LoweringBuilder, info: ir.Value, value: ir.Value) -> ir.Value:
    """Replace the values of the matrices of a batch that LAPACK failed for by NaN."""
    succeeded = build.compare("EQ", info, build.filled_like(info, 0))
    shape = shape_of(value.type)
    flags = build.broadcast_in_dim(succeeded, shape, range(len(shape_of(info.type))))
    part = part_type_of(value)
    nan = build.filled(with_element(value.type, part) if part else value.type, float("nan"))
    if part:
        nan = build.complex(nan, nan)
    return build.select(flags, value, nan)


def _of_nothing(build: LoweringBuilder, result: ir.Type) -> ir.Value:
    """Build what a matrix without elements is factored into: identities, without a failure."""
    shape, zeros = shape_of(result), build.filled(result, 0)
    if 0 in shape or isinstance(element_type_of(result), ir.IntegerType):
        return zeros
    return build.select(_positions(build, shape, "EQ"), build.filled(result, 1), zeros)


def _triangle(build: LoweringBuilder, matrix: ir.Value, *, upper: bool) -> ir.Value:
    """Replace the elements outside of a triangle by zeros."""
    kept = _positions(build, shape_of(matrix.type), "LE" if upper else "GE")
    return build.select(kept, matrix, build.filled_like(matrix, 0))


def _positions(build: LoweringBuilder, shape: Sequence[int], direction: str) -> ir.Value:
    """Compare the row of each element of matrices with its column."""
    row, column = (build.iota(_tensor(32, shape), len(shape) - each) for each in (2, 1))
    return build.compare(direction, row, column)


def _with_batch(build: LoweringBuilder, matrix: ir.Value, batch: Shape) -> ir.Value:
    """Broadcast a batch of matrices to batch dimensions."""
    shape = shape_of(matrix.type)
    rank = len(batch) + 2
    dims = range(rank - len(shape), rank)
    return build.broadcast_in_dim(matrix, [*batch, *shape[-2:]], dims)
