# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-apply-sharding-constraints`: copy the shardings of constraints to their inputs.

Constraints here are the `sdy.sharding_constraint`s and the inputs of manual computations,
inside out and in the order of the text.

1. At the first of a chain of constraints, uses that come after the chain are redirected to its
   end; see `_redirect_to_end_of_chain`.
2. A constraint gives its sharding to its input if the input can have one, has none or one that
   is open in all dimensions and has no axes, and has no other constraint with another sharding,
   and if the constraint's sharding is closed in all dimensions.
3. If the input is a target of a data-flow edge, also between functions, which has one sharding
   for all its values, the input's other uses are redirected to the constraint instead: an
   `sdy.sharding_constraint` is moved after its input, and one is inserted for a manual
   computation. The edge gets the unreduced axes, as these don't propagate.
"""

from __future__ import annotations

from dataclasses import replace

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.op_classes import view_as
from mlir_sdy.uses import defining_operation, place_behind, producer
from mlir_sdy.values import get_sharding, set_sharding, shardable_value
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass
from pyshardy.rules import SHARDING_RULE, ShardingRuleLookup

_CONSTRAINT = "sdy.sharding_constraint"
_MANUAL_COMPUTATION = "sdy.manual_computation"


@register_pass("sdy-apply-sharding-constraints", release="0.10.2")
def apply_sharding_constraints(
    module: ir.Module,
    *,
    debug_sharding_origins: bool = False,
    debug_propagation_edge_sharding: bool = False,
) -> Changes:
    """Apply sharding constraints to their inputs.

    Copies the sharding of an `sdy.sharding_constraint` to its input, if

    - the input has no sharding,
    - all dimensions of the sharding are closed, and
    - no other constraint and no manual computation requires another sharding of the input.

    Propagation alone would copy the axes of the constraint, but would leave the dimensions open.
    Inputs of manual computations are treated in the same way.

    If the input is the result of a data-flow edge, the sharding is not copied, since an edge has
    one sharding for all values that it connects. Instead, the constraint is moved directly after
    the edge and takes over the other uses of the edge's result.

    In a chain of constraints, each of which has the next one as its only use, uses of the chain's
    input that follow the chain in the same block are replaced by the chain's result. This requires
    that no other constraint and no manual computation uses the chain's input or result.

    ```mlir
    %0 = stablehlo.tanh %a : tensor<8x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
    ```

    shards `%0` by `[{"x"}, {}]`. An `add` that uses `%0` after `%2` would use `%2` instead.

    Options:
        debug_sharding_origins: whether to record for each axis the sharding that it comes from.
        debug_propagation_edge_sharding: whether to record the steps that propagated each axis.
    """
    constraints = operations_named(
        {_CONSTRAINT, _MANUAL_COMPUTATION}, module, ir.WalkOrder.POST_ORDER
    )
    has_history = debug_sharding_origins or debug_propagation_edge_sharding
    if not constraints and not has_history:
        return UNCHANGED
    applier = _Applier(module)
    for constraint in constraints:
        if constraint.name == _CONSTRAINT:
            _redirect_to_end_of_chain(constraint)
        for index, sharding in enumerate(_input_shardings(constraint)):
            applier.apply(constraint, index, sharding)
    if has_history:
        # Imported here since it is rarely needed and takes long.
        from pyshardy.propagation.debugging import debug_info  # noqa: PLC0415

        if debug_sharding_origins:
            debug_info.write_origins(module)
        if debug_propagation_edge_sharding:
            debug_info.write_steps(module, applier.applied)
    return Changes({_CONSTRAINT}, OF_SHARDINGS)


_EDGES = frozenset({"sdy.data_flow_edge", "sdy.func_data_flow_edge"})


class _Applier:
    """Applies constraints in their order.

    Attributes:
        applied: the `sdy.sharding_constraint`s whose sharding has been copied to their input so
            far.
    """

    def __init__(self, module: ir.Module):
        self.applied: list[ir.Operation] = []
        self._cache = AttributeCache(module.context)
        self._rules = ShardingRuleLookup()

    def apply(self, constraint: ir.Operation, index: int, sharding: TensorSharding) -> None:
        value = constraint.operands[index]
        holder = shardable_value(value)
        if holder is None or not sharding.is_fully_closed or not _may_be_dictated(value):
            return
        for use in value.uses:
            other = _constraint_at(use)
            if other is not None and other != sharding:
                return
        edge = defining_operation(holder)
        if edge is not None and edge.name in _EDGES:
            self._apply_behind_edge(value, edge, constraint, sharding)
        else:
            set_sharding(value, sharding, self._cache)
            self._note(constraint)

    def _apply_behind_edge(
        self,
        value: ir.Value,
        edge: ir.Operation,
        constraint: ir.Operation,
        sharding: TensorSharding,
    ) -> None:
        if constraint.name == _CONSTRAINT:
            _move_behind(constraint, value)
        else:
            created = sdy.sharding_constraint(
                value, self._cache[sharding], loc=constraint.location, ip=place_behind(value)
            )
            constraint = created.owner.operation
        value.replace_all_uses_except(constraint.results[0], constraint)
        if sharding.unreduced_axes:
            current = get_sharding(edge.results[0]) or sharding.fully_open_like()
            with_unreduced = replace(
                current,
                unreduced_axes=sharding.unreduced_axes,
                reduction_kind=sharding.reduction_kind,
            )
            set_sharding(edge.results[0], with_unreduced, self._cache)

    def _note(self, constraint: ir.Operation) -> None:
        """Record a constraint, and leave its sharding rule on it as C++ Shardy does."""
        if constraint.name != _CONSTRAINT:
            return
        rule = self._rules.rule(constraint)
        if rule is not None:
            self.applied.append(constraint)
            if not has_discardable(constraint, SHARDING_RULE):
                set_discardable(constraint, SHARDING_RULE, self._cache[rule])


def _move_behind(operation: ir.Operation, value: ir.Value) -> None:
    if not isinstance(value, ir.BlockArgument):
        operation.move_after(value.owner.operation)
        return
    first = value.owner.operations[0].operation
    if first != operation:
        operation.move_before(first)


def _input_shardings(operation: ir.Operation) -> tuple[TensorSharding, ...]:
    """Return the shardings that one of the two operations requires of its operands, as written."""
    if operation.name == _CONSTRAINT:
        return (value_of(view_as(sdy.ShardingConstraintOp, operation).sharding),)
    return value_of(view_as(sdy.ManualComputationOp, operation).in_shardings).shardings


def _may_be_dictated(value: ir.Value) -> bool:
    """Whether a constraint may set the sharding of a value: it has none or an open one."""
    sharding = get_sharding(value)
    return sharding is None or sharding.is_unconstrained


def _constraint_at(use: ir.OpOperand) -> TensorSharding | None:
    """Return the sharding that a use of a value requires; None if it requires none."""
    user = use.owner.operation
    if user.name in (_CONSTRAINT, _MANUAL_COMPUTATION):
        return _input_shardings(user)[use.operand_number]
    return None


def _redirect_to_end_of_chain(head: ir.Operation) -> None:
    """Redirect uses of a chain's input after the chain to its end, if `head` begins one.

    A chain is a list of two or more `sdy.sharding_constraint`s such that

    1. the input of the first is not a constraint's result, and has no sharding or one that is open
       in all dimensions and has no axes;
    2. no other constraint and no manual computation uses that input;
    3. each but the last is used once, by the next;
    4. no constraint and no manual computation uses the last.

    Users of the input after the chain, in the block of its last constraint itself, then use the
    last constraint. A `func.return` keeps the input.

        %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]>     the same
        %2 = stablehlo.add %0, %b                                the same
        %3 = sdy.sharding_constraint %1 <@mesh, [{}, {"y"}]>     the same
        %4 = stablehlo.multiply %0, %3                           stablehlo.multiply %3, %3
    """
    value = head.operands[0]
    tail = _tail(head)
    if tail == head or producer(value, _CONSTRAINT) is not None or not _may_be_dictated(value):
        return
    uses = list(value.uses)
    others = [use for use in uses if use.owner.operation != head]
    if any(_demands_sharding(use) for use in others):
        return
    if any(_demands_sharding(use) for use in tail.results[0].uses):
        return
    for use in others:
        user = use.owner.operation
        if (
            user.name != "func.return"
            and user.block == tail.block
            and tail.is_before_in_block(user)
        ):
            user.operands[use.operand_number] = tail.results[0]


def _tail(head: ir.Operation) -> ir.Operation:
    tail = head
    while True:
        uses = list(tail.results[0].uses)
        if len(uses) != 1 or uses[0].owner.operation.name != _CONSTRAINT:
            return tail
        tail = uses[0].owner.operation


def _demands_sharding(use: ir.OpOperand) -> bool:
    return use.owner.operation.name in (_CONSTRAINT, _MANUAL_COMPUTATION)
