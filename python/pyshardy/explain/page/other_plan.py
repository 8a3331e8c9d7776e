# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other plan in a report that compares two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from mlir_sdy.model import TensorSharding
from pyshardy.explain.cost_difference import CollectiveDifference, compare, sharding_axes
from pyshardy.explain.estimate import Estimate
from pyshardy.explain.page.collective_nodes import node_of
from pyshardy.explain.program import ExplainedProgram
from pyshardy.propagation.program import DATA_FLOW_EDGE, SHARDING_GROUP, Program

_NOT_COMPARED = frozenset({DATA_FLOW_EDGE, SHARDING_GROUP, "sdy.mesh", "sdy.sharding_constraint"})
"""Operations that plans for the same program may have or lack."""


@dataclass(frozen=True, slots=True)
class PortData:
    """An argument or a result with two different shardings.

    Attributes:
        name: its name.
        first: the assembly of its sharding in this plan.
        second: that in the other plan.
    """

    name: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class OtherPlan:
    """Another plan for the same program.

    Attributes:
        title: its name.
        estimate: its costs.
        ports: the arguments and results with different shardings.
        collectives: the kinds of collectives that differ.
        shardings: for each value with another sharding there, the number of that sharding.
        collectives_at: for each operation with collectives there, their number.
        is_aligned: whether the operations of both programs correspond, so that all values are
            compared.
    """

    title: str
    estimate: Estimate
    ports: tuple[PortData, ...]
    collectives: tuple[CollectiveDifference, ...]
    shardings: Mapping[int, int]
    collectives_at: Mapping[int, int]
    is_aligned: bool


def other_plan(
    first: ExplainedProgram,
    second: ExplainedProgram,
    number_of: Callable[[TensorSharding | None], int],
) -> OtherPlan:
    """Compare a plan with another.

    Args:
        first: the plan of the report.
        second: the other plan.
        number_of: returns the number of a sharding in the report.

    Raises:
        UsageError: the programs have different arguments or results.
    """
    difference = compare(first.program, second.program, first.report_hardware)
    ours, theirs = first.record.engine, second.record.engine
    pairs = _equal_operations(ours.program, theirs.program)
    shardings: dict[int, int] = {}
    for one, other in _equal_values(ours.program, theirs.program, pairs or ()):
        here = ours.sharding(ours.program.slots[one])
        there = theirs.sharding(theirs.program.slots[other])
        if sharding_axes(here) != sharding_axes(there):
            shardings[one] = number_of(there)
    operations = {other: one for one, other in pairs or ()}
    places = (node_of(each, theirs.program) for each in second.collectives)
    collectives_at = Counter(operations[each] for each in places if each in operations)
    return OtherPlan(
        second.title,
        difference.second,
        tuple(
            PortData(
                port.name,
                first.in_form(str(port.first or "replicated")),
                first.in_form(str(port.second or "replicated")),
            )
            for port in difference.ports
        ),
        difference.collectives,
        shardings,
        collectives_at,
        pairs is not None,
    )


def _equal_operations(first: Program, second: Program) -> list[tuple[int, int]] | None:
    """Return the operations of two programs that correspond; None if their names differ."""
    ours, theirs = list(_compared(first)), list(_compared(second))
    if [first.names[one] for one in ours] != [second.names[other] for other in theirs]:
        return None
    return list(zip(ours, theirs, strict=True))


def _equal_values(
    first: Program, second: Program, operations: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the values of operations that correspond."""
    for one, other in operations:
        for values, others in (
            (first.results[one], second.results[other]),
            (first.arguments.get(one, ()), second.arguments.get(other, ())),
        ):
            yield from zip(values, others, strict=False)


def _compared(program: Program) -> Iterator[int]:
    return (number for number, name in enumerate(program.names) if name not in _NOT_COMPARED)
