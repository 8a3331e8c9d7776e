# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two plans for a program side by side: what differs in what they take, and in what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.model import TensorSharding
from pyshardy.cost.hardware import Hardware
from pyshardy.explain.estimate import Estimate, estimate
from pyshardy.program import PartitionedProgram, Port


@dataclass(frozen=True, slots=True)
class PortDifference:
    """An argument or a result that is sharded in two ways.

    Attributes:
        name: what it is called.
        first: how the first plan shards it; None without a sharding.
        second: how the second one does.
    """

    name: str
    first: TensorSharding | None
    second: TensorSharding | None


@dataclass(frozen=True, slots=True)
class CollectiveDifference:
    """Collectives of a kind along some axes, as many in each plan.

    Attributes:
        kind: the kind.
        axes: the axes.
        counts: how many the first and the second plan have.
        nbytes_sent: the bytes that a device sends in them.
    """

    kind: str
    axes: str
    counts: tuple[int, int]
    nbytes_sent: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two plans.

    Attributes:
        first: what the first one takes.
        second: what the second one takes.
        ports: the arguments and results that they shard in two ways.
        collectives: where they differ in what they communicate, the largest difference first.
    """

    first: Estimate
    second: Estimate
    ports: tuple[PortDifference, ...]
    collectives: tuple[CollectiveDifference, ...]


def compare(
    first: PartitionedProgram, second: PartitionedProgram, hardware: Hardware
) -> Difference:
    """Compare two plans for what is the same program otherwise.

    Args:
        first: the one.
        second: the other.
        hardware: what both run on.
    """
    return Difference(
        estimate(first, hardware),
        estimate(second, hardware),
        (*_ports(first.inputs, second.inputs), *_ports(first.outputs, second.outputs)),
        _collectives(first, second),
    )


def _ports(first: Sequence[Port], second: Sequence[Port]) -> list[PortDifference]:
    return [
        PortDifference(one.name, one.sharding, other.sharding)
        for one, other in zip(first, second, strict=False)
        if _axes(one.sharding) != _axes(other.sharding)
    ]


def _axes(sharding: TensorSharding | None) -> object:
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
    """How many collectives there are of each kind along axes, and what a device sends in them."""
    counts: Counter[tuple[str, str]] = Counter()
    sent: Counter[tuple[str, str]] = Counter()
    for collective in program.collectives:
        key = collective.kind, ", ".join(collective.axes or ())
        times = 1 if collective.repetitions is None else collective.repetitions
        counts[key] += 1
        sent[key] += times * collective.nbytes_sent
    return counts, sent
