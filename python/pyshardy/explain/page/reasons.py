# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reasons in the report why values aren't sharded further, and what would change this.

All reasons of a large program would take long. The report has those of at most 1,000 tensors:

1. arguments and results, of those that differ in the numbers of their names only the first;
2. values that collectives move or complete;
3. the largest others.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyshardy.explain.program import ExplainedProgram
from pyshardy.propagation.debugging.reasons import tensors_of

MOST_TENSORS = 1000
"""The most tensors of a report that have reasons."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class AbsentData:
    """Axes that don't shard a tensor, for one reason.

    Attributes:
        axes: the names of the axes.
        text: the reason, in which "it" is the axis.
        remedy: what would make the tensor sharded by the first of them, as a clause.
        what_if: the options of `sdy-explain` that try it; empty if there are none.
    """

    axes: tuple[str, ...]
    text: str
    remedy: str
    what_if: str


@dataclass(frozen=True, slots=True)
class TensorReasons:
    """The reasons of a tensor.

    Attributes:
        slot: its slot.
        absent: the indices of the axes that don't shard it.
    """

    slot: int
    absent: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReasonData:
    """The reasons in the report.

    Attributes:
        absent: by index; tensors may have one in common.
        tensors: the tensors.
    """

    absent: tuple[AbsentData, ...]
    tensors: tuple[TensorReasons, ...]


def reasons_of(explained: ExplainedProgram) -> ReasonData:
    """Return the reasons of a program.

    Args:
        explained: the program.
    """
    reasons = explained.program_reasons
    known: dict[AbsentData, int] = {}
    tensors: list[TensorReasons] = []
    for slot in itertools.islice(_tensors(explained), MOST_TENSORS):
        of_axes = reasons.of_tensor(slot)
        found: list[int] = []
        for absent in reasons.absent(slot):
            remedy = of_axes[absent.axes[0]].remedy
            told = AbsentData(
                absent.axes,
                reasons.in_form(absent.text),
                "" if remedy is None else remedy.text,
                "" if remedy is None else " ".join(f'--what-if="{e}"' for e in remedy.what_if),
            )
            found.append(known.setdefault(told, len(known)))
        tensors.append(TensorReasons(slot, tuple(found)))
    return ReasonData(tuple(known), tuple(tensors))


def _tensors(explained: ExplainedProgram) -> Iterator[int]:
    """Yield the tensors of rank 1 or more, the most important ones first."""
    record = explained.record
    program = record.engine.program
    every = frozenset(tensors_of(record))
    ports = [] if program.main is None else [*program.arguments.get(program.main, ())]
    ports += [] if program.main is None else program.returned(program.main)
    first: dict[object, int] = {}
    for value in ports:
        slot = program.slots[value]
        name = _NUMBER.sub("#", record.tensor(value).description)
        key = name, program.types[value], record.engine.sharding(slot), record.given(slot)
        first.setdefault(key, slot)
    made = (each.made.value for each in explained.collectives if each.made is not None)
    moved = (program.slots[value] for value in made if value is not None)

    def num_elements(slot: int) -> int:
        tensor = record.tensor_type(slot)
        return 0 if tensor is None else math.prod(tensor.shape)

    largest = sorted(every, key=lambda slot: (-num_elements(slot), slot))
    for slot in dict.fromkeys(itertools.chain(first.values(), moved, largest)):
        if slot in every:
            yield slot
