# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix decompositions and solvers, and Fourier transforms, in any number of batches."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder
from pyshardy.rules.notation import RuleNotation, rule
from pyshardy.rules.registry import CUSTOM_CALL, sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.cholesky", reads=())
def cholesky_rule(_: OperationSignature) -> RuleNotation:
    """Both dimensions of a matrix need replication.

    Example:
        stablehlo.cholesky %a, lower = true : tensor<4x3x3xf32>
        // ([i, j, k])->([i, j, k]) {i=4, j=3, k=3} need_replication={j, k}
    """
    return rule("... m n -> ... m n", need_replication="m n")


@sharding_rule("stablehlo.triangular_solve", reads=("left_side", "transpose_a"))
def triangular_solve_rule(op: OperationSignature) -> OpShardingRule:
    """Both dimensions of the system `a x = b` or `x a = b` need replication.

    On the left side, the rows of `a` are those of `b`, and its columns the rows of `x`; on the
    right side, its columns are those of `b`, and its rows the columns of `x`. A transposed `a`
    has rows and columns the other way round.

    Example:
        "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true,
            unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>
            : (tensor<4x3x3xf32>, tensor<4x3x5xf32>) -> tensor<4x3x5xf32>
        // ([i, j, l], [i, j, k])->([i, l, k]) {i=4, j=3, k=5, l=3} need_replication={j, k, l}
    """
    a, b = op.operand_shape(0), op.operand_shape(1)
    row, column = len(a) - 2, len(a) - 1
    transposes = op.text("transpose_a") in (
        "#stablehlo<transpose TRANSPOSE>",
        "#stablehlo<transpose ADJOINT>",
    )
    builder = RuleBuilder(op).pointwise(a[:row])
    if op.flag("left_side"):
        of_operand, of_result = (column, row) if transposes else (row, column)
        builder.factor(a[of_operand], (of_operand, row), kind=NEED_REPLICATION)
        builder.factor(b[column], (None, column), (column,), NEED_REPLICATION)
        builder.factor(a[of_result], (of_result,), (row,), NEED_REPLICATION)
    else:
        of_operand, of_result = (row, column) if transposes else (column, row)
        builder.factor(b[row], (None, row), (row,), NEED_REPLICATION)
        builder.factor(a[of_operand], (of_operand, column), kind=NEED_REPLICATION)
        builder.factor(a[of_result], (of_result,), (column,), NEED_REPLICATION)
    return builder.build()


@sharding_rule(CUSTOM_CALL, target="Eigh", reads=(), if_fits=True)
def eigh_rule(_: OperationSignature) -> RuleNotation:
    """Eigenvectors are columns; eigenvalues share their dimension.

    Example:
        stablehlo.custom_call @Eigh(%a)
            : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x3xf32>)
        // ([i, j, k])->([i, j, k], [i, k]) {i=4, j=3, k=3}
    """
    return rule("... m n -> ... m n, ... n")


@sharding_rule(CUSTOM_CALL, target="Qr", reads=(), if_fits=True)
@sharding_rule(CUSTOM_CALL, target="QrDecompositionBlock", reads=(), if_fits=True)
def qr_rule(_: OperationSignature) -> RuleNotation:
    """The packed decomposition and the scales of its reflectors.

    Example:
        stablehlo.custom_call @Qr(%a)
            : (tensor<4x5x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x3xf32>)
        // ([i, j, k])->([i, j, k], [i, l]) {i=4, j=5, k=3, l=3} need_replication={j, k, l}
    """
    return rule("... m n -> ... m n, ... k", need_replication="m n k")


@sharding_rule(
    CUSTOM_CALL, target="ProductOfElementaryHouseholderReflectors", reads=(), if_fits=True
)
def householder_product_rule(_: OperationSignature) -> RuleNotation:
    """The product of the reflectors of a decomposition.

    Example:
        stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%a, %b)
            : (tensor<4x5x3xf32>, tensor<4x3xf32>) -> tensor<4x5x3xf32>
        // ([i, j, k], [i, l])->([i, j, k]) {i=4, j=5, k=3, l=3} need_replication={j, k, l}
    """
    return rule("... m n, ... k -> ... m n", need_replication="m n k")


# --- Fourier transforms ---------------------------------------------------------------------------


@sharding_rule("stablehlo.fft", reads=("fft_length",))
def fft_rule(op: OperationSignature) -> OpShardingRule:
    """The transformed dimensions, the last ones, need replication.

    The last one is blocked if its size changes, as in transforms of real numbers.

    Example:
        stablehlo.fft %a, type = RFFT, length = [6] : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
        // ([i, j])->([i, j]) {i=4, j=6} need_replication={j} blocked_propagation={j}
    """
    shape = op.operand_shape()
    first = len(shape) - len(op.integers("fft_length"))
    last = len(shape) - 1
    builder = RuleBuilder(op).pointwise(shape[:first])
    for dim in range(first, len(shape)):
        changes = dim == last and shape[dim] != op.result_shape()[dim]
        builder.point_factor(dim, shape[dim], NEED_REPLICATION, blocked=changes)
    return builder.build()
