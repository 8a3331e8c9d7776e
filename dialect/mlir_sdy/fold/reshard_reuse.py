# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reuse of earlier reshards of a value, directly or through reshapes.

    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
    %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %3 = sdy.reshard %2 <@mesh, [{}, {"x"}]> : tensor<8x4xf32>

Here `%3` is replaced by the transpose of `%1`, so that the data is sent only once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.effects import is_removable
from mlir_sdy.fold.pattern import Pattern
from mlir_sdy.host import ir, rewrite
from mlir_sdy.model import DimensionSharding, Shape, TensorSharding, mesh_of, place_data_alike
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.uses import producer
from mlir_sdy.values import rank_of

_RESHAPE = "stablehlo.reshape"
_TRANSPOSE = "stablehlo.transpose"
_SEARCHED = 1000
"""Largest number of operations visited in the search for a live use of a reshard."""


def reuse_reshard(reshard: sdy.ReshardOp, rewriter: rewrite.PatternRewriter) -> bool:
    """A reshard becomes reshapes and transposes of an earlier reshard with the same data placement.

    1. Walk up from the operand through reshapes and transposes to the *root*, and convert the
       sharding accordingly, as far as it can be expressed.
    2. Among the reshards of the root and of its reshapes find one earlier in the block that has the
       same unreduced axes and the data placement of the converted sharding.
    3. Reshape its result to the type of the root, and apply the chain from the root to the operand
       to it.
    """
    has_served = serve_equal_ones(reshard, rewriter)
    target = _carry_up(reshard)
    if target is None:
        return has_served
    for candidate in _reshards_of(target.root):
        if serves(candidate, reshard, target):
            rewriter.replace_op(reshard.operation, [_follow(candidate, target)])
            return True
    return has_served


def serve_equal_ones(reshard: sdy.ReshardOp, rewriter: rewrite.PatternRewriter) -> bool:
    """Replace all later reshards of the same value to the same sharding by this one, at once.

    The pattern would replace each of them, but search all uses of the value each time. The shortcut
    is taken only if no other pattern can apply to them before: the value is neither a reshape nor
    reshaped, and this reshard keeps a use that is not a reshard.
    """
    value = reshard.input
    if producer(value, _RESHAPE) or producer(value, _TRANSPOSE):
        return False
    sharding, block = reshard.sharding, reshard.operation.block
    equal: list[ir.Operation] = []
    for use in value.uses:
        user = use.owner
        if user.operation.name == _RESHAPE:
            return False
        if (
            isinstance(user, sdy.ReshardOp)
            and user.sharding == sharding
            and user.operation.block == block
            and reshard.operation.is_before_in_block(user.operation)
        ):
            equal.append(user.operation)
    if not equal or not _keeps_a_use(reshard):
        return False
    for later in equal:
        rewriter.replace_op(later, reshard)
    return True


def _keeps_a_use(reshard: sdy.ReshardOp) -> bool:
    """Whether a reshard has a live use other than reshards.

    The search is limited to some operations; beyond them the result is False.
    """
    users = (use.owner.operation for use in reshard.result.uses)
    pending = [user for user in users if user.name != "sdy.reshard"]
    for _ in range(_SEARCHED):
        if not pending:
            return False
        user = pending.pop()
        if not is_removable(user):
            return True
        pending.extend(use.owner.operation for result in user.results for use in result.uses)
    return False


@dataclass(frozen=True, slots=True)
class _Target:
    """The target sharding of a reshard, converted through a chain of reshapes and transposes.

    Attributes:
        root: the value at the top of the chain.
        chain: the operations between the root and the operand, from the operand up.
        sharding: the sharding of the reshard, converted as far as possible.
        type: the type of the value to which `sharding` applies.
    """

    root: ir.Value
    chain: tuple[ir.Operation, ...]
    sharding: TensorSharding
    type: ir.Type


def _carry_up(reshard: sdy.ReshardOp) -> _Target | None:
    """Convert the sharding of a reshard up the chain.

    A transpose permutes the sharding; a reshape of equal rank keeps it, and one of another rank
    ends the conversion. None if there is a transpose above that, which would change the order of
    data.
    """
    root: ir.Value = reshard.input
    sharding, sharded_type = value_of(reshard.sharding), root.type
    chain: list[ir.Operation] = []
    carries_on = True
    while not isinstance(root, ir.BlockArgument):
        operation = root.owner.operation
        if operation.name not in (_RESHAPE, _TRANSPOSE):
            break
        chain.append(operation)
        root = operation.operands[0]
        if operation.name == _TRANSPOSE:
            if not carries_on:
                return None
            permutation = list(ir.DenseI64ArrayAttr(operation.attributes["permutation"]))
            sharding = _permuted(sharding, permutation)
        elif rank_of(root.type) != rank_of(operation.results[0].type):
            carries_on = False
        if carries_on:
            sharded_type = root.type
    return _Target(root, tuple(chain), sharding, sharded_type)


def _permuted(sharding: TensorSharding, permutation: list[int]) -> TensorSharding:
    """Return the sharding before a transpose from that of its result."""
    if not sharding.dim_shardings:  # on a single device
        return sharding
    dims = [DimensionSharding()] * len(permutation)
    for result_dim, operand_dim in enumerate(permutation):
        dims[operand_dim] = sharding.dim_shardings[result_dim]
    return sharding.with_dims(tuple(dims))


def _reshards_of(value: ir.Value) -> Iterator[sdy.ReshardOp]:
    """Return the reshards of a value and of its reshapes."""
    for use in value.uses:
        user = use.owner
        if isinstance(user, sdy.ReshardOp):
            yield user
        elif user.operation.name == _RESHAPE:
            yield from _reshards_of(user.results[0])


def serves(candidate: sdy.ReshardOp, reshard: sdy.ReshardOp, target: _Target) -> bool:
    """Whether `candidate` is earlier in the block and places the data as the target does."""
    earlier, later = candidate.operation, reshard.operation
    if earlier.block != later.block or not earlier.is_before_in_block(later):
        return False
    if candidate.input == reshard.input and candidate.sharding == reshard.sharding:
        return True
    sharding = value_of(candidate.sharding)
    if (
        sharding.unreduced_axes != target.sharding.unreduced_axes
        or sharding.reduction_kind is not target.sharding.reduction_kind
    ):
        return False
    given_type = candidate.result.type
    # Shardy compares with the type of the reshard, to which a sharding converted through a
    # transpose does not apply. Requiring both gives its merges as far as they are correct.
    return all(
        _place_alike(sharding, given_type, target.sharding, target_type, later)
        for target_type in {target.type, reshard.result.type}
    )


def _place_alike(
    first: TensorSharding,
    first_type: ir.Type,
    second: TensorSharding,
    second_type: ir.Type,
    place: ir.Operation,
) -> bool:
    if first == second and first_type == second_type:
        return True
    first_shape, second_shape = _static_shape(first_type), _static_shape(second_type)
    module = enclosing_module(place)
    mesh = mesh_of(first, {} if module is None else meshes_of(module))
    if first_shape is None or second_shape is None or mesh is None:
        return False
    return place_data_alike(first, first_shape, second, second_shape, mesh)


def _static_shape(value_type: ir.Type) -> Shape | None:
    """Return the shape of a tensor type of static sizes; None for any other type."""
    if (
        isinstance(value_type, ir.RankedTensorType)
        and value_type.has_static_shape
        and value_type.encoding is None
    ):
        return tuple(value_type.shape)
    return None


def _follow(candidate: sdy.ReshardOp, target: _Target) -> ir.Value:
    """Apply the chain from the root to the operand to the result of `candidate` instead."""
    value: ir.Value = candidate.result
    if value.type != target.root.type:
        reshape = ir.Operation.create(
            _RESHAPE,
            [target.root.type],
            [value],
            loc=candidate.location,
            ip=ir.InsertionPoint.after(candidate),
        )
        value = reshape.results[0]
    for operation in reversed(target.chain):
        clone = operation.clone(ir.InsertionPoint.after(value.owner)).operation
        clone.operands[0] = value
        value = clone.results[0]
    return value


PATTERNS = (Pattern(sdy.ReshardOp, reuse_reshard, inserts=(_RESHAPE,)),)
