# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of partial results, which are completed together.

In `%s = %x . %w + %y . %v`, both products may be partial along the same axes. The partitioner adds
the partial results, and completes the sum once (`sdy-reassociate-reductions`):

1. A product has another strategy for each one with partial results: it leaves them to the sum.
2. The sum has a strategy for each way in which all its addends leave partial results: it adds up
   those, and completes its own.
3. A result that is left partial flows only to a sum that completes it in this way. All other
   reshards of it are infeasible, since the product has strategies that complete it.

The shardings in the program are those after the completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp
from pyshardy.auto.alternatives import Alternatives, AlternativesOf, Partial
from pyshardy.cost.op_work import Work
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.op_facts.reductions import completion_of

ADDING = frozenset({"stablehlo.add", "stablehlo.subtract"})
"""Operations that are linear in their operands together."""

_SUMMING = frozenset(
    {"stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general", "stablehlo.reduce"}
)


def may_be_left_partial(operation: ir.Operation, alternatives: Alternatives) -> bool:
    """Whether the only result of an operation may be an addend of a sum that is completed later.

    Args:
        operation: the operation.
        alternatives: its strategies.
    """
    if operation.name not in _SUMMING or len(operation.results) != 1:
        return False
    completion = completion_of(operation)
    is_sum = completion is not None and completion.kinds == (ReductionOp.SUM,)
    return is_sum and any(alternatives.reduced)


def common_partials(addends: Sequence[Alternatives]) -> tuple[Partial, ...]:
    """Return the partial results that all addends of a sum may have, in the order of the first."""
    first, *others = (dict.fromkeys(_partials(each)) for each in addends)
    return tuple(
        each for each in first if each is not None and all(each in other for other in others)
    )


def leaving_partial(
    alternatives: Alternatives, partials: Sequence[Partial], of: AlternativesOf
) -> Alternatives:
    """Return the strategies of an addend, and those that leave its results partial.

    Args:
        alternatives: its strategies.
        partials: the partial results that the sum may complete.
        of: finds strategies, and knows the cost of collectives.
    """
    kept = {*partials}
    chosen = [at for at, each in enumerate(_partials(alternatives)) if each in kept]
    model = of.model
    costs = tuple(
        alternatives.costs[at] - sum(map(model.collective, alternatives.collectives[at]))
        for at in chosen
    )
    count = len(alternatives)
    numbers = [*range(count), *chosen]
    return replace(
        alternatives,
        costs=(*alternatives.costs, *costs),
        operands=tuple(tuple(each[at] for at in numbers) for each in alternatives.operands),
        results=tuple(tuple(each[at] for at in numbers) for each in alternatives.results),
        collectives=(*alternatives.collectives, *((),) * len(chosen)),
        computed=tuple(tuple(each[at] for at in numbers) for each in alternatives.computed),
        factors=tuple(alternatives.factors[at] for at in numbers),
        reduced=tuple(alternatives.reduced[at] for at in numbers),
        left=(*(None,) * count, *(_partials(alternatives)[at] for at in chosen)),
    )


def completing_sum(
    alternatives: Alternatives,
    partials: Sequence[Partial],
    shape: Shape,
    nbytes: int,
    works: Sequence[tuple[str, Work]],
    of: AlternativesOf,
) -> Alternatives:
    """Return the strategies of a sum, and those that add up partial results and complete them.

    Args:
        alternatives: the strategies of the sum, as those of an elementwise operation.
        partials: the partial results that all its addends may have.
        shape: its shape.
        nbytes: its bytes.
        works: the names and the unsharded work of its operations.
        of: finds strategies, and knows costs.
    """
    model = of.model
    completing = [
        of.reshards.collectives(nbytes, shape, each.computed, each.result, each.reduced)
        for each in partials
    ]
    costs = [
        sum(
            model.operation(name, work.times(1.0 / of.num_parts(shape, each.computed)))
            for name, work in works
        )
        + sum(map(model.collective, collectives))
        for each, collectives in zip(partials, completing, strict=True)
    ]
    results = (*alternatives.results[0], *(each.result for each in partials))
    return replace(
        alternatives,
        costs=(*alternatives.costs, *costs),
        operands=(results,) * len(alternatives.operands),
        results=(results,),
        collectives=(*alternatives.collectives, *completing),
        completes=(*(None,) * len(alternatives), *partials),
    )


def _partials(alternatives: Alternatives) -> list[Partial | None]:
    """Return for each strategy the partial results that it completes; None for others."""
    (computed,), (results,) = alternatives.computed, alternatives.results
    columns = zip(computed, alternatives.reduced, results, strict=True)
    return [Partial(own, axes, result) if axes else None for own, axes, result in columns]
