# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra: products, decompositions, solvers and Fourier transforms."""

from __future__ import annotations

from mlir_sdy.host import stablehlo
from mlir_sdy.model import FactorType, OpShardingRule
from pyshardy.irtools.stablehlo_views import RaggedDotNumbers
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, REDUCTION, RuleBuilder
from pyshardy.rules.notation import RuleNotation, rule
from pyshardy.rules.registry import CUSTOM_CALL, sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.dot_general", reads=("dot_dimension_numbers",))
def dot_general_rule(op: OperationSignature) -> OpShardingRule:
    """`b m k, b k n -> b m n` with any number of batch, free and contracting dimensions.

    Example:
        stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [2] x [0]
            : (tensor<2x3x5xf32>, tensor<5x2x7xf32>) -> tensor<2x3x7xf32>
        // ([i, j, l], [l, i, k])->([i, j, k]) {i=2, j=3, k=7, l=5} reduction={l}
    """
    numbers = op.dimension_numbers(stablehlo.DotDimensionNumbers, "dot_dimension_numbers")
    lhs, rhs = op.operand_shape(0), op.operand_shape(1)
    batch = list(zip(numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions, strict=True))
    contracting = list(
        zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions, strict=True)
    )
    lhs_bound = {left for left, _ in batch + contracting}
    rhs_bound = {right for _, right in batch + contracting}
    dims: list[tuple[int, int | None, int | None]] = [
        *((lhs[left], left, right) for left, right in batch),
        *((size, dim, None) for dim, size in enumerate(lhs) if dim not in lhs_bound),
        *((size, None, dim) for dim, size in enumerate(rhs) if dim not in rhs_bound),
    ]
    builder = RuleBuilder(op)
    for result_dim, (size, left, right) in enumerate(dims):
        builder.factor(size, (left, right), (result_dim,))
    for left, right in contracting:
        builder.factor(lhs[left], (left, right), kind=REDUCTION)
    return builder.build()


_DOTS = {
    (1, 1): rule("k, k -> ()", reduction="k"),
    (1, 2): rule("k, k n -> n", reduction="k"),
    (2, 1): rule("m k, k -> m", reduction="k"),
    (2, 2): rule("m k, k n -> m n", reduction="k"),
}


@sharding_rule("stablehlo.dot", reads=())
def dot_rule(op: OperationSignature) -> RuleNotation:
    """The product of vectors and matrices.

    Example:
        stablehlo.dot %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4xf32>
        // ([i, j], [j])->([i]) {i=4, j=6} reduction={j}
    """
    return _DOTS[len(op.operand_shape(0)), len(op.operand_shape(1))]


# --- Products of groups of rows -------------------------------------------------------------------


@sharding_rule("chlo.ragged_dot", reads=("ragged_dot_dimension_numbers",), beyond_shardy=True)
def ragged_dot_rule(op: OperationSignature) -> OpShardingRule:
    """A `dot_general` whose ragged dimension is cut into groups of given sizes.

    1. Devices need the sizes of all groups, since the start of a group depends on those before it.
       Along dimensions with sizes of their own, they are sharded like both operands. If the ragged
       dimension is a batching one, the result doesn't depend on the sizes.
    2. A row has the matrix of one group: the dimension of groups of the right operand is reduced.
    3. If the ragged dimension is contracting, the first dimension of the result is that of groups.
    4. Other dimensions, the ragged one too, behave as those of `dot_general`.

    Example:
        "chlo.ragged_dot"(%a, %b, %c) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
            lhs_batching_dimensions = [], rhs_batching_dimensions = [],
            lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
            lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
            : (tensor<4x6xf32>, tensor<2x6x5xf32>, tensor<2xi32>) -> tensor<4x5xf32>
        // ([j, k], [l, k, i], [m])->([j, i]) {i=5, j=4, k=6, l=2, m=2}
        //     reduction={k, l} need_replication={m}
    """
    numbers = RaggedDotNumbers.parse(op.text("ragged_dot_dimension_numbers"))
    lhs, rhs, sizes = (op.operand_shape(index) for index in range(3))
    *batches, num_groups = sizes
    apart = numbers.sized_apart(len(lhs)) if batches else ()

    builder = RuleBuilder(op)

    def of_lhs(dim: int, kind: FactorType = PASS_THROUGH) -> None:
        size_dim = apart.index(dim) if dim in apart else None
        result_dim = numbers.result_dim(dim, len(lhs))
        builder.factor(lhs[dim], (dim, numbers.rhs_dim(dim), size_dim), (result_dim,), kind)

    if numbers.is_contracting:
        builder.factor(op.result_shape()[0], (), (0,))
    free = numbers.rhs_free(len(rhs))
    for result_dim, dim in enumerate(free, len(op.result_shape()) - len(free)):
        builder.factor(rhs[dim], (None, dim), (result_dim,))
    # Behind columns, since choices of equal cost prefer later factors: the next product takes rows.
    for dim in (*numbers.lhs_batching, *numbers.lhs_free(len(lhs))):
        of_lhs(dim)
    for dim in numbers.lhs_contracting:
        of_lhs(dim, REDUCTION)
    for dim in numbers.rhs_group:
        builder.factor(rhs[dim], (None, dim), kind=REDUCTION)
    of_sizes = PASS_THROUGH if numbers.is_batching else NEED_REPLICATION
    return builder.factor(num_groups, (None, None, -1), kind=of_sizes).build()


# --- Sums of products in the notation of Einstein -------------------------------------------------


@sharding_rule(
    "stablehlo.einsum", "stablehlo.unary_einsum", reads=("einsum_config",), beyond_shardy=True
)
def einsum_rule(op: OperationSignature) -> OpShardingRule | None:
    """A letter is a factor; letters that the result lacks are summed.

    1. A letter in several tensors, once in each, relates its dimensions.
    2. A letter that is twice in one operand takes the diagonal: all dimensions with this letter
       need replication.
    3. `...` stands for leading dimensions, counted from the last one; where an operand has
       size 1 and the result has not, the operand's dimension needs replication.

    There is no rule if the text does not fit the shapes.

    Example:
        stablehlo.einsum %a, %b, config = "abc,cd->abd"
            : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
        // ([i, j, l], [l, k])->([i, j, k]) {i=2, j=3, k=5, l=4} reduction={l}
        stablehlo.unary_einsum %a, config = "aab->ab" : (tensor<3x3x5xf32>) -> tensor<3x5xf32>
        // ([j, k, i])->([l, i]) {i=5, j=3, k=3, l=3} need_replication={j, k, l}
    """
    left, arrow, right = op.text("einsum_config").replace(" ", "").partition("->")
    labels = [*left.split(","), right]
    if not arrow or len(labels) != len(op.tensors):
        return None
    shapes = [*map(op.operand_shape, range(len(op.operands))), op.result_shape()]
    places = [_labels(label, len(shape)) for label, shape in zip(labels, shapes, strict=True)]
    if any(len(names) != len(shape) for names, shape in zip(places, shapes, strict=True)):
        return None
    return _rule_of_labels(op, places, shapes)


def _labels(text: str, rank: int) -> list[str]:
    """Return a label for each dimension; an ellipsis has numbers, from its end."""
    before, dots, after = text.partition("...")
    number = rank - len(before) - len(after) if dots else 0
    return [*before, *(str(at) for at in reversed(range(number))), *after]


def _rule_of_labels(
    op: OperationSignature, places: list[list[str]], shapes: list[tuple[int, ...]]
) -> OpShardingRule:
    sizes: dict[str, int] = {}
    for names, shape in zip(reversed(places), reversed(shapes), strict=True):
        for name, size in zip(names, shape, strict=True):
            sizes[name] = max(size, sizes.get(name, 1))
    builder = RuleBuilder(op)
    apart: list[tuple[int, int]] = []
    for name, size in sizes.items():
        found = [
            (tensor, dim)
            for tensor, names in enumerate(places)
            for dim, label in enumerate(names)
            if label == name
        ]
        is_diagonal = any(names.count(name) > 1 for names in places)
        tied = {t: d for t, d in found if shapes[t][d] == size and not is_diagonal}
        apart.extend((t, d) for t, d in found if t not in tied)
        dims = [tied.get(tensor) for tensor in range(len(places))]
        if tied:
            kind = PASS_THROUGH if name in places[-1] else REDUCTION
            builder.factor(size, dims[:-1], dims[-1:], kind)
    for tensor, dim in apart:
        dims = [dim if at == tensor else None for at in range(len(places))]
        builder.factor(shapes[tensor][dim], dims[:-1], dims[-1:], NEED_REPLICATION)
    return builder.build()


# --- Decompositions, solvers and Fourier transforms -----------------------------------------------


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
