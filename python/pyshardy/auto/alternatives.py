# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The strategies of operations and values with their costs, computed once for each signature."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from mlir_sdy.attributes import value_of
from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import identity, ir
from mlir_sdy.model import AxisTuple, TensorSharding
from pyshardy.auto.computations import MeasuredComputation
from pyshardy.auto.costs import Collectives, CostModel, ReshardCosts
from pyshardy.auto.exchange import exchange_collectives
from pyshardy.auto.strategies import (
    AxisChoices,
    Strategy,
    agrees_with,
    axes_of_tensor,
    replicated_strategy,
    strategies_of_rule,
)
from pyshardy.cost.op_work import SizedOperation, TensorSize, TensorSizes, Work
from pyshardy.irtools.tensor_types import element_bytes, shape_of
from pyshardy.partition.compatibility.factor_axes import FactorAxes, Shape
from pyshardy.partition.halo.form import ExchangeForm
from pyshardy.partition.halo.form_lookup import form_of
from pyshardy.partition.op_facts.blocked_factors import blocked_factors
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.op_facts.rules_on_shards import rule_on_shards
from pyshardy.partition.op_facts.work import work_of
from pyshardy.partition.resharding.cost import PlannedCollective
from pyshardy.partition.resharding.steps import AxesPerDim
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
        is_replicated: whether the operation can't be computed on shards.
        inside: the collectives in the body of a computation, with their numbers of executions.
    """

    costs: tuple[float, ...]
    operands: tuple[tuple[AxesPerDim, ...], ...]
    results: tuple[tuple[AxesPerDim, ...], ...]
    collectives: tuple[Collectives, ...]
    computed: tuple[tuple[AxesPerDim, ...], ...] = ()
    factors: tuple[FactorAxes, ...] = ()
    is_replicated: bool = False
    inside: tuple[tuple[PlannedCollective, int], ...] = ()

    def __len__(self) -> int:
        return len(self.costs)


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
    ) -> Alternatives:
        """Return the shardings of a value, and of elementwise operations on values of its shape.

        Args:
            shape: the global shape.
            given: a sharding by the user.
            num_operands: the number of operands, all of that shape.
            works: the names and the unsharded work of the operations.
        """
        key = shape, given, num_operands, tuple(works)
        known = self._known.get(key)
        if known is None:
            found = axes_of_tensor(shape, self.choices, given)
            costs: list[float] = []
            for axes in found:
                share = 1.0 / self.num_shards(axes)
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
    ) -> Alternatives:
        """Return the strategies of an operation.

        Args:
            operation: the operation.
            given: the shardings of its results by the user.
            free: for each operand that is computed on any shard the unsharded work of that; None
                for other operands.
        """
        name = operation.name
        values = (*operation.operands, *operation.results)
        shapes = tuple(shape_of(each.type) for each in values)
        nbytes = tuple(element_bytes(each.type) for each in values)
        rule = self._rules.rule(operation)
        is_replicated = rule is None or record_of(name).local_form is None
        blocked: frozenset[int] = frozenset()
        form: ExchangeForm | None = None
        if rule is not None and not is_replicated:
            rule = rule_on_shards(operation, rule)
            form = form_of(operation, rule)
            rule = rule if form is None else form.rule
            blocked = blocked_factors(operation, rule)
            blocked -= frozenset() if form is None else form.factors
        key = name, shapes, nbytes, rule, blocked, tuple(given), tuple(free)
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
            strategies = strategies_of_rule(rule, shapes, blocked, self.choices)
            strategies = _agreeing(strategies, given) or _only_given(strategies, given)
        exchanges: dict[Strategy, Collectives] = {}
        for strategy in strategies:
            needed: Collectives | None = ()
            if form is not None:
                needed = exchange_collectives(form, strategy, shapes, nbytes, self.choices.mesh)
            if needed is not None:
                exchanges[strategy] = needed
        strategies = [*exchanges]
        strategies.sort(key=lambda each: (len(each.reduced), each.num_parts > 1))  # stable
        costs: list[float] = []
        collectives: list[Collectives] = []
        for strategy in strategies:
            cost = self._operation_cost(operation, strategy, free)
            completing: Collectives = exchanges[strategy]
            for at, (computed, result) in enumerate(
                zip(strategy.computed, strategy.results, strict=True)
            ):
                size = nbytes[num_operands + at] * math.prod(shapes[num_operands + at])
                completing += self.reshards.collectives(size, computed, result, strategy.reduced)
            cost += sum(self.model.collective(each) for each in completing)
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
            is_replicated,
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

    def num_shards(self, axes: AxesPerDim) -> int:
        """Return the number of shards of a tensor."""
        return math.prod(self.choices.mesh.axes_size(each) for each in axes)

    def work(self, operation: ir.Operation) -> Work:
        """Return the work of an unsharded operation."""
        return work_of(operation.name, self._sizes.of_operation(operation))

    def _operation_cost(
        self, operation: ir.Operation, strategy: Strategy, free: Sequence[Work | None]
    ) -> float:
        """Return the cost of an operation on shards, without its completion."""
        sized = self._sizes.of_operation(operation)
        whole = work_of(operation.name, sized)
        operands = [
            self._local(size, axes)
            for size, axes in zip(sized.operands, strategy.operands, strict=True)
        ]
        results = [
            self._local(size, axes)
            for size, axes in zip(sized.results, strategy.computed, strict=True)
        ]
        local = work_of(operation.name, SizedOperation(operation, operands, results))
        work = Work(whole.operations / strategy.num_parts, local.nbytes)
        cost = self.model.operation(operation.name, work)
        for axes, made in zip(strategy.operands, free, strict=True):
            if made is not None:
                share = 1.0 / self.num_shards(axes)
                cost += self.model.operation("stablehlo.broadcast_in_dim", made.times(share))
        return cost

    def _local(self, size: TensorSize, axes: AxesPerDim) -> TensorSize:
        count = self.num_shards(axes)
        return TensorSize(size.elements // count, size.nbytes // count)


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
