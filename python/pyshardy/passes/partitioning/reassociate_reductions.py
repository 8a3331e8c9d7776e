# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-reassociate-reductions`: complete partial results once, after linear operations.

XLA's passes `all-reduce-reassociate` and `while-loop-all-reduce-code-motion` do the same.

1. *Joint operations* (`_JOINT`). Each operand is computed, through operations that are linear
   in it, from an all-reduce. All these values have a single use and are in one block. The
   all-reduces add up along the same axes, and together they have at least as many bytes as the
   result. One all-reduce of the result replaces them. No tensor in between is sharded along these
   axes, as a number is that is broadcast to shards: elements of other shards would be added.
2. The same for reduce-scatters, if all scatter in the same way, and operations are transposes,
   or elementwise without other operands than one number: these run on unscattered partial
   results then.
3. *Slices*. An all-reduce whose only use is a `stablehlo.slice` moves after it.
4. *Loops*. A `stablehlo.while` carries a sum to which its body only adds (or from which it
   subtracts) a value that is computed, as above, from an all-reduce. The loop adds up the
   partial results, beginning with zero; after it they are completed, and the initial value is
   added if it isn't zero. Reduce-scatters are moved if the sums, which are not scattered in the
   loop then, take at most `max_bytes` more on a device than before.
5. *Rows of groups*. The all-reduce of a `chlo.ragged_dot` is erased if devices only use rows of
   their own groups (see `uses_own_rows_only`).
6. *Smaller results*. If all uses of an all-reduce lead, through linear operations, to products,
   sums over dimensions or scatters with fewer bytes together (`_SHRINKING`), these are completed
   instead. Each all-reduce more saves at least `BYTES_OF_A_START` bytes. This comes last.
7. Inner operations and loops come first.

The shardings of partial results have these axes as unreduced axes.

Reshards are collectives already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.fold import apply_patterns
from mlir_sdy.fold.reduce_scatter import PATTERNS as SCATTERS
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisRefList,
    AxisTuple,
    ListOfAxisRefLists,
    ReductionOp,
    TensorSharding,
    mesh_of,
    set_difference,
    sort_and_merge,
)
from mlir_sdy.op_classes import view_as
from mlir_sdy.uses import has_one_use, producer, replace_by
from mlir_sdy.values import (
    DATA_FLOW_OPERATIONS,
    get_sharding,
    rank_of,
    result_shardings_of,
    set_sharding,
)
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.constants import uniform_element
from pyshardy.irtools.functions import has_static_shape
from pyshardy.irtools.ragged_dots import RAGGED_DOT
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import TransposeView
from pyshardy.irtools.tensor_types import element_bytes, shape_of
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.invariant_computations import MOST_BYTES
from pyshardy.partition.op_facts.own_rows import group_axes, uses_own_rows_only
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.partial.completion import reduced_axes, reduction_kind
from pyshardy.partition.partial.linear_operations import accumulation, is_zero, linear_operands
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Natural

Value = TypeVar("Value")

_ALL_REDUCE, _REDUCE_SCATTER = "sdy.all_reduce", "sdy.reduce_scatter"
_COMPLETING = (_ALL_REDUCE, _REDUCE_SCATTER)
_WHILE = "stablehlo.while"

_MOST_FACTORS = 32
"""The limit on the depth of nested products that are searched."""

_JOINT = frozenset({"stablehlo.add", "stablehlo.concatenate", "stablehlo.subtract"})
"""Operations that are linear in all operands together."""

_SHRINKING = frozenset({"stablehlo.dot_general", "stablehlo.reduce", "stablehlo.scatter"})
"""Operations that may be linear in one operand, and whose results may be smaller."""

BYTES_OF_A_START = 2**20
"""The bytes that an all-reduce more must save, since it takes time to start."""

_TRANSPOSE = "stablehlo.transpose"

_SCALING = frozenset({"stablehlo.divide", "stablehlo.multiply"})

_ELEMENTWISE = frozenset(
    {"stablehlo.add", "stablehlo.convert", "stablehlo.negate", "stablehlo.subtract"}
)
"""Linear operations on each element of a single operand."""

_INSERTED = frozenset(
    {_ALL_REDUCE, _REDUCE_SCATTER, "sdy.all_slice", "stablehlo.add", "stablehlo.constant"}
)


@register_pass("sdy-reassociate-reductions", anchor="func.func", release="pyshardy")
def reassociate_reductions(
    function: ir.Operation | ir.OpView, *, max_bytes: Natural = MOST_BYTES
) -> Changes:
    """Complete partial results after linear operations on them.

    Replaces several all-reduces whose results are only added, subtracted or concatenated by
    a single all-reduce after these operations. Negations, products with complete values, exact
    conversions, transposes, reshapes, slices, broadcasts, sums over dimensions and pads with zeros
    may occur in between.
    Reduce-scatters along the same dimensions and axes are merged as well. A loop that only
    accumulates results of all-reduces or reduce-scatters accumulates partial results instead, and
    one collective completes them after the loop. Sums that aren't scattered in the loop any more
    occupy more memory. The all-reduce of a `chlo.ragged_dot` is dropped if its result is only used
    by others of the same groups, of which each device takes the same rows.

    ```mlir
    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %4 = stablehlo.add %1, %3 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %3 = stablehlo.add %0, %2
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<8xf32>
    %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    ```

    Options:
        max_bytes: maximum number of bytes on each device by which the sums of a loop may grow.
    """
    if not operations_named({_ALL_REDUCE, _REDUCE_SCATTER}, function):
        return UNCHANGED
    reassociation = _Reassociation(FunctionContext.of(function), max_bytes)
    for product in operations_named({RAGGED_DOT}, function):
        reassociation.keep_own_rows(product)
    names = {*_JOINT, "stablehlo.slice", _WHILE}
    for operation in operations_named(names, function, ir.WalkOrder.POST_ORDER):
        reassociation.visit(operation)
    for collective in operations_named({_ALL_REDUCE}, function):
        reassociation.complete_smaller(collective)
    if reassociation.has_changed:
        apply_patterns(function, SCATTERS)
    return Changes(_INSERTED, OF_SHARDINGS)


@dataclass(frozen=True, slots=True)
class _Completion:
    """The collective that completes an operand, before operations that are linear in it.

    Attributes:
        collective: the collective.
        axes: the axes along which it adds up.
        chain: the operations between it and the operand, in order.
    """

    collective: ir.Operation
    axes: AxisTuple
    chain: tuple[ir.Operation, ...]

    @property
    def sharding(self) -> TensorSharding:
        """Return the sharding of the collective's result."""
        return result_shardings_of(self.collective)[0]

    @property
    def is_scatter(self) -> bool:
        """Whether the collective is a reduce-scatter."""
        return self.collective.name == _REDUCE_SCATTER

    def resembles(self, other: _Completion) -> bool:
        """Whether one collective can replace both."""
        if self.axes != other.axes or self.collective.name != other.collective.name:
            return False
        if self.sharding.mesh_or_ref != other.sharding.mesh_or_ref:
            return False
        if not self.is_scatter:
            return True
        shardings = [
            get_sharding(value)
            for each in (self, other)
            for value in (each.collective.operands[0], each.collective.results[0])
        ]
        first, second = (
            [None if sharding is None else each.moved(sharding.dim_axes) for sharding in found]
            for each, found in ((self, shardings[:2]), (other, shardings[2:]))
        )
        return first == second and self.scattered_axes == other.scattered_axes

    @property
    def scattered_axes(self) -> tuple[AxisRefList, ...]:
        """Return the axes along which the reduce-scatter shards dimensions, after the chain."""
        scatter = view_as(sdy.ReduceScatterOp, self.collective)
        return self.moved(value_of(scatter.reduce_scatter_axes).value)

    def moved(self, by_dim: Sequence[Value]) -> tuple[Value, ...]:
        """Return something for each dimension of the collective for the dimensions after the chain.

        Transposes are the only operations after a reduce-scatter that move dimensions.
        """
        for operation in self.chain if self.is_scatter else ():
            by_dim = _permuted(operation, by_dim)
        return tuple(by_dim)


class _Reassociation:
    """One run over a function."""

    def __init__(self, context: FunctionContext, max_bytes: int):
        self.max_bytes = max_bytes
        self.meshes = context.meshes
        self.cache = context.cache
        self.rules = context.rules
        self.has_changed = False

    def visit(self, operation: ir.Operation) -> None:
        """Apply the rule for an operation."""
        if operation.name == _WHILE:
            left = self.max_bytes
            for index in range(len(operation.results)):
                left -= self._leave_loop(operation, index, left)
        elif operation.name in _JOINT:
            completions = self._completions(operation)
            if len(completions) > 1:
                self._merge(operation, completions)
        else:
            completion = self._completion(operation.operands[0], operation)
            if completion is not None and not completion.is_scatter:
                self._move(operation, [completion])

    def _completions(self, operation: ir.Operation) -> Sequence[_Completion]:
        """Return the collectives that complete the operands; none if one is without."""
        completions: list[_Completion] = []
        for operand in operation.operands:
            completion = self._completion(operand, operation)
            if completion is None:
                return ()
            completions.append(completion)
        return completions

    def _completion(self, value: ir.Value, user: ir.Operation) -> _Completion | None:
        """Return the collective that completes an operand, if it can move after this user."""
        found = self._followed(value, user, _MOST_FACTORS)
        if found is None:
            return None
        if found.is_scatter and not all(map(_runs_unscattered, found.chain)):
            return None
        for operation in (*found.chain, user):
            # Another operand is partial along these axes already.
            sharding = get_sharding(operation.results[0]) if len(operation.results) else None
            if sharding is not None and not {*found.axes}.isdisjoint(sharding.unreduced_axes):
                return None
            # A number that is broadcast to shards is multiplied by others on each device.
            if not found.is_scatter and _uses_axes(operation, found.axes):
                return None
        return found

    def _followed(self, value: ir.Value, user: ir.Operation, factors: int) -> _Completion | None:
        """Follow an operand through linear operations to a collective.

        Args:
            value: the operand.
            user: its user.
            factors: the remaining depth of nested products to search.
        """
        chain: list[ir.Operation] = []
        while not isinstance(value, ir.BlockArgument) and has_one_use(value):
            operation = value.owner.operation
            if operation.block != user.block:
                return None
            if operation.name in _COMPLETING:
                return self._of_collective(operation, tuple(reversed(chain)))
            candidates = linear_operands(operation)
            chain.append(operation)
            if len(candidates) > 1:  # a product: follow the factor with a completion
                operands = [operation.operands[index] for index in candidates] if factors else []
                found = [self._followed(each, operation, factors - 1) for each in operands]
                followed = [each for each in found if each is not None]
                if len(followed) != 1 or operation.operands[0] == operation.operands[1]:
                    return None
                first = followed[0]
                return replace(first, chain=(*first.chain, *reversed(chain)))
            if not candidates:
                return None
            value = operation.operands[candidates[0]]
        return None

    def _of_collective(
        self, collective: ir.Operation, chain: tuple[ir.Operation, ...]
    ) -> _Completion | None:
        is_sum = reduction_kind(collective) is ReductionOp.SUM
        if not is_sum or not has_static_shape(collective.results[0].type):
            return None
        element = ir.RankedTensorType(collective.results[0].type).element_type
        if isinstance(element, ir.IntegerType) and element.width == 1:
            return None  # the type has no sum
        axes = reduced_axes(collective, self.meshes)
        if not _can_be_partial(collective.operands[0], axes):
            return None
        return _Completion(collective, axes, chain)

    def _merge(self, joint: ir.Operation, completions: Sequence[_Completion]) -> None:
        first = completions[0]
        if not all(first.resembles(each) for each in completions[1:]):
            return
        if first.is_scatter and joint.name not in _ELEMENTWISE:
            return
        sent = sum(self._bytes(each.collective.results[0]) for each in completions)
        if self._bytes(joint.results[0]) <= sent:
            self._move(joint, completions)

    def _bytes(self, value: ir.Value) -> int:
        """Return the bytes of a value on each device."""
        sharding = get_sharding(value)
        mesh = None if sharding is None else mesh_of(sharding, self.meshes)
        shape = shape_of(value.type)
        if sharding is not None and mesh is not None:
            shape = sharding.local_shape(shape, mesh)
        count = 1
        for size in shape:
            count *= max(size, 1)
        return count * element_bytes(value.type)

    def _move(self, last: ir.Operation, completions: Sequence[_Completion]) -> None:
        """Move the collectives after an operation to which all of them lead."""
        sharding = get_sharding(last.results[0]) or self._replicated(last, completions[0])
        self._make_partial(last, completions)
        result = last.results[0]
        collective = completions[0].collective
        # Its location is that of the first partial result, which is the reason for communication.
        with ir.InsertionPoint.after(last), collective.location:
            done = self._completed(result, completions[0], sharding)
        result.replace_all_uses_except(done, done.owner.operation)
        _erase(completions)

    def _completed(
        self, value: ir.Value, completion: _Completion, sharding: TensorSharding
    ) -> ir.Value:
        """Build the collective of a completion on another value."""
        if completion.is_scatter:
            lists = self.cache[ListOfAxisRefLists(completion.scattered_axes)]
            return sdy.reduce_scatter(value, lists, self.cache[sharding])
        axes = view_as(sdy.AllReduceOp, completion.collective).reduction_axes
        return sdy.all_reduce(value, axes, self.cache[sharding])

    def _make_partial(self, last: ir.Operation, completions: Sequence[_Completion]) -> None:
        """Convert operations to partial results, up to one to which all collectives lead."""
        self.has_changed = True
        for completion in completions:
            value = completion.collective.operands[0]
            partial = self._partial(completion)
            self._set_unreduced(value, partial, completion)
            for operation in completion.chain:
                if completion.is_scatter:  # whose chain keeps the number of dimensions
                    partial = _behind(operation, partial)
                    self._unscatter_operands(operation, partial)
                self._set_partial(operation, partial, completion)
            completion.collective.results[0].replace_all_uses_with(value)
        self._set_partial(last, self._partial_after_chain(completions[0]), completions[0])

    def _partial(self, completion: _Completion) -> TensorSharding:
        """Return the sharding of the operand of a collective."""
        value = completion.collective.operands[0]
        return get_sharding(value) or self._replicated(completion.collective, completion)

    def _partial_after_chain(self, completion: _Completion) -> TensorSharding:
        """Return the sharding after the operations between a reduce-scatter and its user."""
        partial = self._partial(completion)
        for operation in completion.chain if completion.is_scatter else ():
            partial = _behind(operation, partial)
        return partial

    def _unscatter_operands(self, operation: ir.Operation, sharding: TensorSharding) -> None:
        """Give the sharding of the result to operands whose elements are all equal."""
        for index, operand in enumerate(operation.operands):
            if _is_uniform(operand):
                copy = operand.owner.operation.clone(ir.InsertionPoint(operation)).operation
                set_sharding(copy.results[0], sharding.with_unreduced_axes(()), self.cache)
                operation.operands[index] = copy.results[0]

    def _set_partial(
        self, operation: ir.Operation, partial: TensorSharding, completion: _Completion
    ) -> None:
        """Mark the result of an operation as partial.

        With reduce-scatters, the result has the sharding of their operand.
        """
        result = operation.results[0]
        sharding = get_sharding(result) or self._replicated(operation, completion)
        if completion.is_scatter:
            sharding = partial
        self._set_unreduced(result, sharding, completion)

    def _set_unreduced(
        self, value: ir.Value, sharding: TensorSharding, completion: _Completion
    ) -> None:
        mesh = mesh_of(sharding, self.meshes)
        assert mesh is not None, "the verifier refuses shardings without a mesh"
        added = set_difference(completion.axes, sharding.unreduced_axes, mesh)
        if not added and get_sharding(value) == sharding:
            return
        axes = sort_and_merge([*sharding.unreduced_axes, *added], mesh)
        set_sharding(value, sharding.with_unreduced_axes(axes), self.cache)

    def _replicated(
        self, operation: ir.Operation, completion: _Completion, value: ir.Value | None = None
    ) -> TensorSharding:
        rank = rank_of((operation.results[0] if value is None else value).type)
        return TensorSharding.fully_closed(rank, completion.sharding.mesh_or_ref)

    # --- Smaller results ----------------------------------------------------------------------

    def complete_smaller(self, collective: ir.Operation) -> None:
        """Complete the results that depend on an all-reduce instead, if they are smaller."""
        completion = self._of_collective(collective, ())
        found = None if completion is None else self._smaller_uses(completion)
        if completion is None or found is None:
            return
        chain, last = found
        shardings = [
            get_sharding(each.results[0]) or self._replicated(each, completion) for each in last
        ]
        for operation in last:
            self._make_partial(operation, [replace(completion, chain=chain)])
        for operation, sharding in zip(last, shardings, strict=True):
            result = operation.results[0]
            with ir.InsertionPoint.after(operation), collective.location:
                done = self._completed(result, completion, sharding)
            result.replace_all_uses_except(done, done.owner.operation)
        _erase([completion])

    def _smaller_uses(
        self, completion: _Completion
    ) -> tuple[tuple[ir.Operation, ...], list[ir.Operation]] | None:
        """Return the operations to which an all-reduce leads, after those in between."""
        value = completion.collective.results[0]
        size, total = self._bytes(value), 0
        chain, last = list[ir.Operation](), list[ir.Operation]()
        waiting = [value]
        while waiting:
            value = waiting.pop()
            uses = list(value.uses)
            for use in uses:
                user = use.owner.operation
                is_new = user not in chain and user not in last
                if not is_new or not self._can_be_between(user, use.operand_number, completion):
                    return None
                result = user.results[0]
                if user.name not in _SHRINKING or self._bytes(result) >= size:
                    chain.append(user)
                    waiting.append(result)
                    continue
                last.append(user)
                total += self._bytes(result)
                if any(each.owner.operation.name in _COMPLETING for each in result.uses):
                    return None
            if not uses or len(chain) + len(last) > _MOST_FACTORS:
                return None
        saved = size - total - BYTES_OF_A_START * (len(last) - 1)
        return (tuple(chain), last) if saved > 0 else None

    def _can_be_between(
        self, operation: ir.Operation, operand: int, completion: _Completion
    ) -> bool:
        """Whether an operation on partial results has partial results."""
        if operation.block != completion.collective.block or operand not in _linear_in(operation):
            return False
        sharding = get_sharding(operation.results[0])
        is_partial = sharding is not None and not {*completion.axes}.isdisjoint(
            sharding.unreduced_axes
        )
        return not is_partial and not _uses_axes(operation, completion.axes)

    # --- Products of groups -------------------------------------------------------------------

    def keep_own_rows(self, product: ir.Operation) -> None:
        """Erase the all-reduce of a product of groups, if devices use their own rows only."""
        if not has_one_use(product.results[0]):
            return
        (use,) = product.results[0].uses
        reduced = use.owner.operation
        if reduced.name != _ALL_REDUCE or not uses_own_rows_only(product, self.rules):
            return
        if {*reduced_axes(reduced, self.meshes)} != {*group_axes(product)}:
            return
        completion = _Completion(reduced, reduced_axes(reduced, self.meshes), ())
        sharding = get_sharding(product.results[0]) or self._replicated(product, completion)
        self._set_unreduced(product.results[0], sharding, completion)
        replace_by(reduced, product.results[0])

    # --- Loops -------------------------------------------------------------------------------

    def _leave_loop(self, loop: ir.Operation, index: int, max_bytes: int) -> int:
        """Complete a sum that a loop accumulates after it, if the loop has no other use for it.

        Args:
            loop: the loop.
            index: the index of the sum among the values that the loop carries.
            max_bytes: the maximum size on a device by which the sum may grow.

        Returns:
            The size by which it has grown.
        """
        found = accumulation(loop, index)
        if found is None:
            return 0
        addition = found.addition
        completion = self._completion(addition.operands[found.addend], addition)
        if completion is None:
            return 0
        growth = 0
        if completion.is_scatter:
            collective = completion.collective
            growth = self._bytes(collective.operands[0]) - self._bytes(collective.results[0])
        if growth > max_bytes:
            return 0
        self._sum_up_after(loop, index, completion, [*found.copies, addition])
        return growth

    def _sum_up_after(
        self,
        loop: ir.Operation,
        index: int,
        completion: _Completion,
        in_loop: Sequence[ir.Operation],
    ) -> None:
        """Complete a result of a loop after it, with partial values in the loop."""
        first, result = loop.operands[index], loop.results[index]
        sharding = get_sharding(result) or self._replicated(loop, completion, result)
        collective = completion.collective
        inside = self._partial_after_chain(completion) if completion.is_scatter else sharding
        with ir.InsertionPoint(loop), loop.location:
            zero = StablehloBuilder().literal(_zeros(first.type))
        *copies, addition = in_loop
        for copy in copies:
            self._set_partial(copy, inside, completion)
        self._make_partial(addition, [completion])
        self._set_unreduced(zero, inside, completion)
        loop.operands[index] = zero
        self._set_unreduced(result, inside, completion)
        with ir.InsertionPoint.after(loop), collective.location:
            done = self._completed(result, completion, sharding)
        total = done
        if not is_zero(first):
            with ir.InsertionPoint.after(done.owner), loop.location:
                total = StablehloBuilder().binary("add", first, done)
            set_sharding(total, sharding, self.cache)
        result.replace_all_uses_except(total, done.owner.operation)
        _erase([completion])


def _runs_unscattered(operation: ir.Operation) -> bool:
    """Whether an operation after a reduce-scatter can run on unscattered partial results."""
    if operation.name in _ELEMENTWISE or operation.name == _TRANSPOSE:
        return True
    operands = list(operation.operands)
    return operation.name in _SCALING and any(map(_is_uniform, operands))


def _linear_in(operation: ir.Operation) -> tuple[int, ...]:
    """Return the operands that an operation is linear in, with those of indexing and products."""
    match operation.name:
        case "stablehlo.gather":
            return (0,)
        case "stablehlo.dot_general":
            return (0, 1)
        case "stablehlo.scatter" if len(operation.operands) == 3:
            adds = combining_operations(operation.regions[0].blocks[0]) == ("stablehlo.add",)
            return (2,) if adds and is_zero(operation.operands[0]) else ()
        case _:
            return linear_operands(operation)


def _uses_axes(operation: ir.Operation, axes: AxisTuple) -> bool:
    """Whether a tensor of an operation is sharded along some axes, as a factor of a product is."""
    names = {axis.name for axis in axes}
    return any(
        axis.name in names
        for value in (*operation.operands, *operation.results)
        if (sharding := get_sharding(value)) is not None
        for dim in sharding.dim_axes
        for axis in dim
    )


def _is_uniform(value: ir.Value) -> bool:
    """Whether a value is a constant, or a broadcast, of one number."""
    broadcast = producer(value, "stablehlo.broadcast_in_dim")
    if broadcast is not None:
        return rank_of(broadcast.operands[0].type) == 0
    return uniform_element(value) is not None


def _permuted(operation: ir.Operation, by_dim: Sequence[Value]) -> Sequence[Value]:
    """Return the entries for the dimensions of the operand from those for the result."""
    if operation.name != _TRANSPOSE:
        return by_dim
    return [by_dim[dim] for dim in TransposeView(operation).permutation]


def _behind(operation: ir.Operation, sharding: TensorSharding) -> TensorSharding:
    """Return the sharding of the result of an operation that keeps elements or transposes them."""
    return replace(sharding, dim_shardings=tuple(_permuted(operation, sharding.dim_shardings)))


def _can_be_partial(value: ir.Value, axes: AxisTuple) -> bool:
    """Whether a value is marked as partial, or is the result of an operation that can be."""
    sharding = get_sharding(value)
    if sharding is not None and {*axes} <= {*sharding.unreduced_axes}:
        return True
    if isinstance(value, ir.BlockArgument) or not has_one_use(value):
        return False
    name = value.owner.operation.name
    return not name.startswith("sdy.") and name not in DATA_FLOW_OPERATIONS and name != "func.call"


def _zeros(tensor: ir.Type) -> ir.Attribute:
    element = ir.RankedTensorType(tensor).element_type
    part = element.element_type if isinstance(element, ir.ComplexType) else element
    zero = "0" if isinstance(part, ir.IntegerType) else "0.0"
    literal = f"({zero}, {zero})" if part != element else zero
    return ir.Attribute.parse(f"dense<{literal}> : {tensor}", tensor.context)


def _erase(completions: Sequence[_Completion]) -> None:
    for completion in completions:
        completion.collective.erase()
