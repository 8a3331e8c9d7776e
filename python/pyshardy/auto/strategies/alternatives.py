# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The strategies of operations and values with their costs, computed once for each signature."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from mlir_sdy.attributes import value_of
from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import identity, ir
from mlir_sdy.model import AxisTuple, OpShardingRule, Shape, TensorSharding
from pyshardy.auto.strategies.computations import MeasuredComputation
from pyshardy.auto.strategies.costs import Collectives, CostModel, ReshardCosts
from pyshardy.auto.strategies.exchange import Exchange, exchange_of
from pyshardy.auto.strategies.padding import is_program_argument, masks, traffic_of_padding
from pyshardy.auto.strategies.strategy import (
    Strategy,
    agrees_with,
    axes_of_tensor,
    num_parts_of,
    replicated_strategy,
    strategies_of_rule,
)
from pyshardy.cost.collectives import PlannedCollective, share_sent
from pyshardy.cost.op_work import SizedOperation, TensorSize, TensorSizes, Work
from pyshardy.irtools.tensor_types import element_bytes, shape_of, tensor_bytes
from pyshardy.partition.choice.enumerate import AxisChoices
from pyshardy.partition.halo.form_lookup import form_of
from pyshardy.partition.halo.profitability import shard_sizes
from pyshardy.partition.op_facts.record import record_of, rule_on_shards
from pyshardy.partition.op_facts.work import elements_of_product, work_of
from pyshardy.partition.padding.replicated import unpaddable_factors
from pyshardy.partition.partial.reductions import blocked_factors, completion_of
from pyshardy.partition.resharding.cost import Reshard
from pyshardy.partition.types.exchange_plan import ExchangeForm
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.rules import ShardingRuleLookup


@dataclass(frozen=True, eq=False, slots=True)
class Alternatives:
    """The strategies of a site, in the order of preference: the least sharded first.

    Attributes:
        costs: the cost of each strategy, with the completion of results.
        operands: for each operand the axes of its dimensions in each strategy.
        results: for each result the same, after completion.
        collectives: the collectives that complete the results in each strategy.
        computed: for each result the axes of its dimensions before completion.
        factors: the axes of each factor of the rule in each strategy; none for values, and for
            elementwise operations.
        reduced: the axes along which computed results are partial in each strategy; none for
            values, and for elementwise operations.
        left: the axes along which the only result is left partial in each strategy (see
            `partial_results`); none for operations that leave none.
        taken: for each operand the axes along which it is partial in each strategy; none for
            operations whose operands are complete.
        is_replicated: whether the operation can't be computed on shards.
        inside: the collectives in the body of a computation, with their numbers of executions.
    """

    costs: tuple[float, ...]
    operands: tuple[tuple[AxesPerDim, ...], ...]
    results: tuple[tuple[AxesPerDim, ...], ...]
    collectives: tuple[Collectives, ...]
    computed: tuple[tuple[AxesPerDim, ...], ...] = ()
    factors: tuple[FactorAxes, ...] = ()
    reduced: tuple[AxisTuple, ...] = ()
    left: tuple[AxisTuple, ...] = ()
    taken: tuple[tuple[AxisTuple, ...], ...] = ()
    is_replicated: bool = False
    inside: tuple[tuple[PlannedCollective, int], ...] = ()

    def __len__(self) -> int:
        return len(self.costs)

    def is_partial(self, strategy: int) -> bool:
        """Whether a strategy takes a partial operand, or leaves its result partial."""
        return any(each[strategy] for each in (*self.taken, self.left) if each)


class AlternativesOf:
    """Finds the strategies of operations and values.

    Args:
        context: the context of the program.
        choices: the axes that may be used.
        model: the cost of operations and collectives.
    """

    def __init__(self, context: ir.Context, choices: AxisChoices, model: CostModel):
        self.choices = choices
        self.model = model
        self.reshards = ReshardCosts(choices.mesh, model)
        self._rules = ShardingRuleLookup.shared(context)
        self._sizes = TensorSizes()
        self._known: dict[Hashable, Alternatives] = {}

    def of_value(
        self,
        shape: Shape,
        given: TensorSharding | None = None,
        num_operands: int = 0,
        works: Sequence[tuple[str, Work]] = (),
        *,
        is_even: bool = False,
    ) -> Alternatives:
        """Return the shardings of a value, and of elementwise operations on values of its shape.

        Args:
            shape: the global shape.
            given: a sharding by the user.
            num_operands: the number of operands, all of that shape.
            works: the names and the unsharded work of the operations.
            is_even: whether its shards must be even, as those of arguments and results.
        """
        key = shape, given, num_operands, tuple(works), is_even
        known = self._known.get(key)
        if known is None:
            found = axes_of_tensor(shape, self.choices, given, is_even=is_even)
            costs: list[float] = []
            for axes in found:
                share = 1.0 / self.num_parts(shape, axes)
                costs.append(sum(self.model.operation(name, w.times(share)) for name, w in works))
            all_axes = tuple(found)
            known = self._known[key] = Alternatives(
                tuple(costs), (all_axes,) * num_operands, (all_axes,), ((),) * len(found)
            )
        return known

    def of_operation(
        self,
        operation: ir.Operation,
        given: Sequence[TensorSharding | None],
        free: Sequence[Work | None],
        accesses: Sequence[int],
    ) -> Alternatives:
        """Return the strategies of an operation.

        Args:
            operation: the operation.
            given: the shardings of its results by the user.
            free: for each operand that is computed on any shard the unsharded work of that; None
                for other operands.
            accesses: how often each operand is read, then how often each result is written.
        """
        name = operation.name
        values = (*operation.operands, *operation.results)
        shapes = tuple(shape_of(each.type) for each in values)
        nbytes = tuple(element_bytes(each.type) for each in values)
        rule = self._rules.rule(operation)
        is_replicated = rule is None or record_of(name).local_form is None
        blocked: frozenset[int] = frozenset()
        even: frozenset[int] = frozenset()
        form: ExchangeForm | None = None
        if rule is not None and not is_replicated:
            rule = rule_on_shards(operation, rule)
            form = form_of(operation, rule)
            rule = rule if form is None else form.rule
            blocked = blocked_factors(operation, rule) | _lost_factors(rule)
            blocked -= frozenset() if form is None else form.factors
            if self.choices.uneven:
                even = _even_factors(operation, rule, form)
        key: tuple[Hashable, ...]
        completion = completion_of(operation)
        scatters = completion is None or not completion.is_local
        element = elements_of_product(name, operation)
        sizes = shapes, nbytes, element
        key = name, *sizes, rule, blocked, even, scatters, tuple(given), tuple(free), *accesses
        if self.choices.uneven:
            key = *key, tuple(map(is_program_argument, operation.operands))
        if form is not None and form.factors:
            attributes = operation.attributes.items()
            key = *key, tuple((name, identity(each)) for name, each in attributes)
        known = self._known.get(key)
        if known is not None:
            return known
        num_operands = len(operation.operands)
        if is_replicated or rule is None:
            strategies = [replicated_strategy(shapes, num_operands)]
        else:
            strategies = strategies_of_rule(
                rule, shapes, blocked, self.choices, even, scatters=scatters
            )
            strategies = _agreeing(strategies, given) or _only_given(strategies, given)
        exchanges: dict[Strategy, Exchange] = {}
        if form is not None:
            for strategy in strategies:
                needed = exchange_of(form, strategy, shapes, nbytes, self.choices.mesh)
                if needed is not None:
                    exchanges[strategy] = needed
            strategies = [*exchanges]
        strategies.sort(key=lambda each: (len(each.reduced), each.num_parts > 1))  # stable
        costs: list[float] = []
        collectives: list[Collectives] = []
        for strategy in strategies:
            exchange = exchanges.get(strategy)
            cost = self._operation_cost(operation, strategy, free, accesses, exchange)
            completing: Collectives = () if exchange is None else exchange.collectives
            if exchange is not None and exchange.accessed:
                copies = Work(0.0, exchange.accessed)
                cost += self.model.operation("stablehlo.concatenate", copies)
            for at, (computed, result) in enumerate(
                zip(strategy.computed, strategy.results, strict=True)
            ):
                shape = shapes[num_operands + at]
                completing += self.reshards.collectives(
                    nbytes[num_operands + at] * math.prod(shape),
                    *(shape, computed, result, strategy.reduced),
                )
                if self.choices.uneven and strategy.reduced:
                    size, mesh = nbytes[num_operands + at], self.choices.mesh
                    padding = traffic_of_padding(Reshard(shape, size, computed, result, mesh))
                    cost += self.model.operation("stablehlo.pad", Work(0.0, padding))
            cost += sum(self.model.collective(each) for each in completing)
            if self.choices.uneven and rule is not None and not is_replicated:
                works = masks(operation, rule, strategy, self.choices.mesh)
                cost += sum(self.model.operation("stablehlo.select", each) for each in works)
            costs.append(cost)
            collectives.append(completing)
        found = Alternatives(
            tuple(costs),
            tuple(
                tuple(strategy.operands[at] for strategy in strategies)
                for at in range(num_operands)
            ),
            tuple(
                tuple(strategy.results[at] for strategy in strategies)
                for at in range(len(operation.results))
            ),
            tuple(collectives),
            tuple(
                tuple(strategy.computed[at] for strategy in strategies)
                for at in range(len(operation.results))
            ),
            () if is_replicated else tuple(strategy.factors for strategy in strategies),
            tuple(strategy.reduced for strategy in strategies),
            is_replicated=is_replicated,
        )
        self._known[key] = found
        return found

    def of_computation(
        self, operation: ir.Operation, measured: MeasuredComputation
    ) -> Alternatives:
        """Return the only strategy of a computation: the shardings that it declares.

        Args:
            operation: the manual or named computation.
            measured: its work and communication.
        """
        inputs = value_of(get_discardable(operation, "in_shardings")).shardings
        outputs = value_of(get_discardable(operation, "out_shardings")).shardings
        key = inputs, outputs, measured
        known = self._known.get(key)
        if known is not None:
            return known
        model = self.model
        cost = sum(model.operation(name, work) * times for name, work, times in measured.works)
        cost += sum(model.collective(each) * times for each, times in measured.collectives)
        found = self._known[key] = Alternatives(
            (cost,),
            tuple((tuple(each.dim_axes),) for each in inputs),
            tuple((tuple(each.dim_axes),) for each in outputs),
            ((),),
            inside=measured.collectives,
        )
        return found

    def of_single_device(self, operation: ir.Operation, accesses: Sequence[int]) -> Alternatives:
        """Return the only strategy of an operation that the user has put on a single device.

        Its operands are replicated. Its results are sent to all devices by an all-reduce, to which
        the others contribute zeros.

        Args:
            operation: the operation.
            accesses: as in `of_operation`.
        """
        values = (*operation.operands, *operation.results)
        shapes = tuple(shape_of(each.type) for each in values)
        sizes = tuple(tensor_bytes(each.type) for each in values)
        element = elements_of_product(operation.name, operation)
        key = "single device", operation.name, shapes, sizes, element, *accesses
        known = self._known.get(key)
        if known is None:
            mesh, num_operands = self.choices.mesh, len(operation.operands)
            strategy = replicated_strategy(shapes, num_operands)
            share = float(share_sent("all_reduce", mesh.total_size))
            completing = tuple(
                PlannedCollective("all_reduce", mesh.total_size, mesh.axis_names, nbytes * share)
                for nbytes in sizes[num_operands:]
                if nbytes * share
            )
            cost = self.model.operation(operation.name, self.work(operation, accesses))
            known = self._known[key] = Alternatives(
                (cost + sum(map(self.model.collective, completing)),),
                tuple((axes,) for axes in strategy.operands),
                tuple((axes,) for axes in strategy.results),
                (completing,),
            )
        return known

    def elementwise_factors(self, operation: ir.Operation, axes: AxesPerDim) -> FactorAxes | None:
        """Return the axes of the factors of an elementwise operation with some axes."""
        rule = self._rules.rule(operation)
        if rule is None:
            return None
        factors: list[AxisTuple] = [()] * rule.num_factors
        for dim, own in zip(rule.result_mappings[0].dim_mappings, axes, strict=True):
            for factor in dim.factor_indices:
                factors[factor] = own
        return tuple(factors)

    def num_parts(self, shape: Shape, axes: AxesPerDim) -> float:
        """Return the quotient of the size of a tensor and that of a padded shard."""
        return num_parts_of(shape, axes, self.choices.mesh)

    def work(self, operation: ir.Operation, accesses: Sequence[int]) -> Work:
        """Return the work of an unsharded operation.

        Args:
            operation: the operation.
            accesses: how often each operand is read, then how often each result is written.
        """
        return work_of(operation.name, self._sizes.of_operation(operation, accesses))

    def _operation_cost(
        self,
        operation: ir.Operation,
        strategy: Strategy,
        free: Sequence[Work | None],
        accesses: Sequence[int],
        exchange: Exchange | None,
    ) -> float:
        """Return the cost of an operation on shards, without its completion and its exchange."""
        sized = self._sizes.of_operation(operation, accesses)
        whole = work_of(operation.name, sized)
        shapes = [shape_of(each.type) for each in operation.operands]
        mesh = self.choices.mesh
        taken = shard_sizes(strategy.operands, shapes, mesh)
        operands = map(_local, sized.operands, taken if exchange is None else exchange.shapes)
        made = shard_sizes(strategy.computed, [size.shape for size in sized.results], mesh)
        results = map(_local, sized.results, made)
        local = work_of(operation.name, SizedOperation(operation, [*operands], [*results]))
        work = replace(local, operations=whole.operations / strategy.num_parts)
        cost = self.model.operation(operation.name, work)
        for shape, axes, made in zip(shapes, strategy.operands, free, strict=True):
            if made is not None:
                share = 1.0 / self.num_parts(shape, axes)
                cost += self.model.operation("stablehlo.broadcast_in_dim", made.times(share))
        return cost


def _local(size: TensorSize, shape: Sequence[int]) -> TensorSize:
    """Return the size of a shard of a tensor, with elements of other shards if it has any."""
    elements = math.prod(shape)
    return TensorSize(
        elements, size.nbytes * elements // size.elements if size.elements else 0, tuple(shape)
    )


def _lost_factors(rule: OpShardingRule) -> frozenset[int]:
    """Return the factors that no result has, and along which nothing is reduced.

    Example: the rule `([i, l])->([j, k]) {i=3, j=2, k=3, l=2}` of a reshape.
    """
    kept = {*rule.reduction_factors}
    for mapping in rule.result_mappings:
        kept.update(factor for dim in mapping.dim_mappings for factor in dim.factor_indices)
    return frozenset(range(rule.num_factors)) - kept


def _even_factors(
    operation: ir.Operation, rule: OpShardingRule, form: ExchangeForm | None
) -> frozenset[int]:
    """Return the factors whose shards must be even, since the operation can't be padded there.

    In an exchange form, these are reduced factors as well, beside those of the exchange.
    """
    even = unpaddable_factors(operation, rule)
    return even if form is None else (even | {*rule.reduction_factors}) - form.factors


def _agreeing(
    strategies: Sequence[Strategy], given: Sequence[TensorSharding | None]
) -> list[Strategy]:
    """Return the strategies whose results have the shardings that the user gave."""
    return [
        strategy
        for strategy in strategies
        if all(
            sharding is None or agrees_with(axes, sharding)
            for axes, sharding in zip(strategy.results, given, strict=True)
        )
    ]


def _only_given(
    strategies: Sequence[Strategy], given: Sequence[TensorSharding | None]
) -> list[Strategy]:
    """Return all strategies, with results in the shardings that the user gave."""
    return [
        replace(
            strategy,
            results=tuple(
                axes if sharding is None else tuple(sharding.dim_axes)
                for axes, sharding in zip(strategy.results, given, strict=True)
            ),
        )
        for strategy in strategies
    ]
