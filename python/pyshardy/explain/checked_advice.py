# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Advice that was tried: constraints with which a program communicates less.

Propagation gives a tensor the first axis that reaches it. A decoder whose weights are sharded by
FSDP may so get activations that are sharded along their features, instead of along the batch, and
then sends a multiple of the bytes. A constraint on one tensor decides such a conflict:

1. A candidate is a set of tensors that refuse an axis in a dimension since it shards another one of
   theirs. Tensors of one source line and shape are one candidate. Those that are the largest
   together come first.
2. Each of the first candidates is tried: its tensors get the axis in the dimension that refused it,
   and the program is propagated and partitioned.
3. A candidate is advice if devices send at least 1 % fewer bytes then. The best comes first; of
   candidates with an equal effect only the one that is first in the program is advice.
4. The other candidates are tried again together with the best one. The best of these pairs is
   advice, too, if devices send at least 1 % less than with the best alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from mlir_sdy.diagnostics import SdyError, SourceLocation
from mlir_sdy.model import AxisRef, TensorSharding
from pyshardy.display import Displayed, Table
from pyshardy.explain.cost_difference import CostDifference
from pyshardy.explain.program import ExplainedProgram
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.propagation.debugging.axis_chains import dim_of
from pyshardy.propagation.debugging.explanation import with_axis_on
from pyshardy.propagation.debugging.record import Record
from pyshardy.propagation.debugging.refusals import RefusalReason


class Effect(Protocol):
    """The effect of a change, as that of `WhatIf`."""

    @property
    def explained(self) -> ExplainedProgram:
        """The program with the change."""
        ...

    @property
    def difference(self) -> CostDifference:
        """The costs before and after."""
        ...

    def effect(self) -> str:
        """Return the change of the costs in one line."""
        ...

    def tables(self) -> list[Table]:
        """Return tables of the costs and collectives that differ."""
        ...


class Changeable(Protocol):
    """A program whose values can be constrained, such as a `WhatIf`."""

    @property
    def explained(self) -> ExplainedProgram:
        """The program as it is."""
        ...

    def constrain(self, candidates: Sequence[Candidate]) -> Effect:
        """Return the effect of constraints."""
        ...


MOST_CANDIDATES = 4
_LEAST_GAIN = 0.99


@dataclass(frozen=True, slots=True)
class Candidate:
    """Tensors of one source line that would have an axis in another dimension.

    Attributes:
        slots: the slots of the tensors in the record of propagation.
        what: the first of them: `result 0 of stablehlo.gather`.
        location: their source location.
        sharding: the sharding that they would have.
        nbytes: their bytes on all devices together.
    """

    slots: tuple[int, ...]
    what: str
    location: SourceLocation | None
    sharding: TensorSharding
    nbytes: int

    def __str__(self) -> str:
        where = "" if self.location is None else f" at {self.location}"
        others = f" and {len(self.slots) - 1} more" if len(self.slots) > 1 else ""
        return f"constrain {self.what}{others}{where} to {self.sharding}"


@dataclass(frozen=True, slots=True, repr=False)
class CheckedAdvice(Displayed):
    """Constraints, and their effect.

    Attributes:
        candidates: the constraints, which belong together.
        change: their effect.
    """

    candidates: tuple[Candidate, ...]
    change: Effect

    @property
    def nbytes_saved(self) -> int:
        """The bytes that each device sends less."""
        difference = self.change.difference
        return difference.first.nbytes_sent - difference.second.nbytes_sent

    def __str__(self) -> str:
        told = "; ".join(map(str, self.candidates))
        return f"{told}: {self.change.effect()}"

    def summary(self) -> str:
        """Return the constraints and their effect in one line."""
        return str(self)

    def tables(self) -> list[Table]:
        """Return the tables of the change."""
        return self.change.tables()


def candidates_of(record: Record) -> list[Candidate]:
    """Return the candidates of a propagated program, the largest first."""
    groups: dict[object, list[tuple[int, TensorSharding]]] = {}
    for slot, axis, dim in _conflicts(record):
        sharding = record.engine.sharding(slot)
        if sharding is not None:
            wanted = with_axis_on(sharding, axis, dim)
            key = record.tensor(slot).location, record.engine.program.types[slot], wanted
            groups.setdefault(key, []).append((slot, wanted))
    found: list[Candidate] = []
    for members in groups.values():
        slots = tuple(dict.fromkeys(slot for slot, _ in members))
        tensor = record.tensor(slots[0])
        nbytes = sum(_nbytes(record, slot) for slot in slots)
        found.append(Candidate(slots, tensor.description, tensor.location, members[0][1], nbytes))
    return sorted(found, key=lambda each: (-each.nbytes, each.slots))


def checked_advice(what_if: Changeable, most: int = MOST_CANDIDATES) -> tuple[CheckedAdvice, ...]:
    """Return the constraints that help, of the first candidates of a program, the best first.

    Args:
        what_if: the program.
        most: the number of candidates to try; each takes as long as `sdy.explain`.
    """
    candidates = candidates_of(what_if.explained.record)[:most]
    limit = what_if.explained.cost.nbytes_sent * _LEAST_GAIN
    alone = _helping(what_if, [(each,) for each in candidates], limit)
    if not alone:
        return ()
    best = alone[0]
    limit = best.change.difference.second.nbytes_sent * _LEAST_GAIN
    pairs = [(*best.candidates, each) for each in candidates if each not in best.candidates]
    return (*_helping(what_if, pairs, limit)[:1], *alone)


def _helping(
    what_if: Changeable, proposals: Sequence[tuple[Candidate, ...]], limit: float
) -> list[CheckedAdvice]:
    """Return the proposals with which devices send at most some bytes, the best first."""
    found: dict[int, CheckedAdvice] = {}
    for proposal in sorted(proposals, key=lambda each: [one.slots for one in each]):
        try:
            change = what_if.constrain(proposal)
        except SdyError:  # the constraint contradicts an annotation
            continue
        nbytes = change.difference.second.nbytes_sent
        if nbytes <= limit:
            found.setdefault(nbytes, CheckedAdvice(proposal, change))
    return [found[nbytes] for nbytes in sorted(found)]


def _conflicts(record: Record) -> Iterator[tuple[int, AxisRef, int]]:
    """Yield the tensors that refuse an axis which shards another dimension of theirs."""
    for slot in sorted(set(record.engine.program.slots)):
        for _, refusal, relation in record.still_refused(slot):
            if refusal.reason is RefusalReason.IN_USE:
                rule = relation.family.rule
                yield slot, refusal.axis, dim_of(rule, refusal.target, refusal.factor)


def _nbytes(record: Record, slot: int) -> int:
    tensor = record.engine.program.tensor_type(slot)
    return 0 if tensor is None else TensorSpec(tensor.shape, tensor.element_type).nbytes
