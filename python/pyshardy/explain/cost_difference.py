# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The comparison of two plans for a program: costs, shardings and collectives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import TensorSharding
from pyshardy.cost.hardware import Hardware
from pyshardy.display import Printed, Table, seconds_text
from pyshardy.explain.estimate import Estimate, estimate
from pyshardy.explain.program import ExplainedProgram
from pyshardy.program import PartitionedProgram, Port


@dataclass(frozen=True, slots=True)
class PortDifference:
    """An argument or a result with two different shardings.

    Attributes:
        name: its name.
        first: its sharding in the first plan; None without a sharding.
        second: its sharding in the second plan.
    """

    name: str
    first: TensorSharding | None
    second: TensorSharding | None


@dataclass(frozen=True, slots=True)
class CollectiveDifference:
    """The collectives of a kind along some axes in both plans.

    Attributes:
        kind: the kind.
        axes: the axes.
        counts: their numbers in the first and the second plan.
        nbytes_sent: the bytes that a device sends in them.
    """

    kind: str
    axes: str
    counts: tuple[int, int]
    nbytes_sent: tuple[int, int]


@dataclass(frozen=True, slots=True, repr=False)
class CostDifference(Printed):
    """The differences between two plans.

    Attributes:
        first: the cost of the first plan.
        second: the cost of the second plan.
        ports: the arguments and results with different shardings.
        collectives: the differing collectives, the largest difference first.
    """

    first: Estimate
    second: Estimate
    ports: tuple[PortDifference, ...]
    collectives: tuple[CollectiveDifference, ...]

    def summary(self) -> str:
        """Return the change of bytes, time and memory in one line."""
        first, second = self.first, self.second
        return (
            f"{first.nbytes_sent:,} -> {second.nbytes_sent:,} bytes sent, "
            f"{seconds_text(first.predicted)} -> {seconds_text(second.predicted)}, "
            f"peak memory {first.peak_bytes:,} -> {second.peak_bytes:,} bytes"
        )

    def tables(self) -> list[Table]:
        """Return tables of the costs and of the collectives that differ."""
        plans = self.first, self.second
        axes = {axes for plan in plans for axes in plan.bytes_by_axes}
        pairs = zip(*(plan.rows(axes) for plan in plans), strict=True)
        costs = [(label, before, after) for (label, before), (_, after) in pairs]
        title = f"Each device, {self.first.hardware}"
        tables = [Table(title, ("cost", "before", "after"), costs, num_numeric=2)]
        if self.collectives:
            rows: list[tuple[str, ...]] = []
            for each in self.collectives:
                counts, sent = each.counts, each.nbytes_sent
                changed = (f"{counts[0]} -> {counts[1]}", f"{sent[0]:,} -> {sent[1]:,}")
                rows.append((each.kind, each.axes, *changed))
            headings = ("collective", "axes", "count", "bytes sent")
            tables.append(Table("Different collectives", headings, rows, num_numeric=2))
        return tables


def compare(
    first: PartitionedProgram, second: PartitionedProgram, hardware: Hardware
) -> CostDifference:
    """Compare two plans for the same program.

    Args:
        first: the first plan.
        second: the second plan.
        hardware: the hardware of both.

    Raises:
        UsageError: the programs have other arguments or results, so they are not the same.
    """
    return _difference(first, second, estimate(first, hardware), estimate(second, hardware))


def compare_explained(first: ExplainedProgram, second: ExplainedProgram) -> CostDifference:
    """Compare two explained plans for the same program, by their costs as they are known.

    Raises:
        UsageError: as for `compare`.
    """
    return _difference(first.program, second.program, first.cost, second.cost)


def _difference(
    first: PartitionedProgram, second: PartitionedProgram, cost: Estimate, other_cost: Estimate
) -> CostDifference:
    for kind, ours, theirs in (
        ("argument", first.inputs, second.inputs),
        ("result", first.outputs, second.outputs),
    ):
        _check_equal(kind, ours, theirs)
    return CostDifference(
        cost,
        other_cost,
        (*_ports(first.inputs, second.inputs), *_ports(first.outputs, second.outputs)),
        _collectives(first, second),
    )


def _check_equal(kind: str, first: Sequence[Port], second: Sequence[Port]) -> None:
    """Raise an error if the arguments or results of two programs have different types."""
    problem = f"{len(first)} {kind}s in the first, {len(second)} in the second"
    if len(first) == len(second):
        different = [
            (index, one, other)
            for index, (one, other) in enumerate(zip(first, second, strict=True))
            if one.spec != other.spec
        ]
        if not different:
            return
        index, one, other = different[0]
        problem = f"{kind} {index} is {one.spec} in the first, {other.spec} in the second"
    raise UsageError(error(f"can't compare the plans of different programs: {problem}"))


def _ports(first: Sequence[Port], second: Sequence[Port]) -> list[PortDifference]:
    return [
        PortDifference(one.name, one.sharding, other.sharding)
        for one, other in zip(first, second, strict=False)
        if sharding_axes(one.sharding) != sharding_axes(other.sharding)
    ]


def sharding_axes(sharding: TensorSharding | None) -> object:
    """Return the axes of each dimension for a comparison; None if replicated."""
    return None if sharding is None or sharding.is_fully_replicated else sharding.dim_axes


def _collectives(
    first: PartitionedProgram, second: PartitionedProgram
) -> tuple[CollectiveDifference, ...]:
    (counts, sent), (other_counts, other_sent) = map(_totals, (first, second))
    found = [
        CollectiveDifference(*key, (counts[key], other_counts[key]), (sent[key], other_sent[key]))
        for key in {**counts, **other_counts}
        if (counts[key], sent[key]) != (other_counts[key], other_sent[key])
    ]
    return tuple(sorted(found, key=lambda each: -abs(each.nbytes_sent[0] - each.nbytes_sent[1])))


def _totals(
    program: PartitionedProgram,
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return the count and the bytes sent of the collectives of each kind and axes."""
    counts: Counter[tuple[str, str]] = Counter()
    sent: Counter[tuple[str, str]] = Counter()
    for collective in program.collectives:
        key = collective.kind, ", ".join(collective.axes or ())
        counts[key] += 1
        sent[key] += collective.nbytes_total
    return counts, sent
