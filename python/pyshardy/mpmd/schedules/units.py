# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The units that a schedule orders, and their inputs.

A *unit* is the forward or backward fragment of one stage for one microbatch: F, B, or the halves Ba
and Bw of a split B, which compute the gradients of the activations and of the weights. On the first
stage there is no gradient to send, so that B isn't split there.

| unit    | needs                                                                            |
|---------|----------------------------------------------------------------------------------|
| F(i, s) | F(i, s - 1)                                                                      |
| B(i, s) | F(i, s), the gradient of stage s + 1, and the sum of gradients up to microbatch i - 1 |
| Ba(i, s)| F(i, s) and the gradient of stage s + 1                                          |
| Bw(i, s)| Ba(i, s), and the sum of gradients up to microbatch i - 1                        |
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from mlir_sdy.diagnostics import UsageError, error

KINDS = ("F", "B", "Ba", "Bw")
_WRITTEN = re.compile(r"(F|Ba|Bw|B)(\d+)(?:/(\d+))?")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The numbers of a pipeline: meshes in their order, microbatches, and stages on each mesh.

    Raises:
        UsageError: a number is below 1.
    """

    meshes: int
    microbatches: int
    stages_per_mesh: int = 1

    def __post_init__(self) -> None:
        for name in ("meshes", "microbatches", "stages_per_mesh"):
            if getattr(self, name) < 1:
                words = name.replace("_", " ")
                raise UsageError(
                    error(f"a pipeline of {getattr(self, name)} {words}: at least 1 is needed")
                )

    @property
    def stages(self) -> int:
        """The number of all stages."""
        return self.meshes * self.stages_per_mesh


@dataclass(frozen=True, slots=True)
class SchedulingUnit:
    """The fragment of a stage for a microbatch.

    Attributes:
        kind: one of `KINDS`.
        microbatch: its number, from 0.
        stage: the number of the stage, from 0.
    """

    kind: str
    microbatch: int
    stage: int

    @property
    def is_forward(self) -> bool:
        """Whether it is a forward fragment."""
        return self.kind == "F"

    @property
    def adds_gradients(self) -> bool:
        """Whether it computes gradients of weights."""
        return self.kind in ("B", "Bw")

    def __str__(self) -> str:
        return f"{self.kind}{self.microbatch}/{self.stage}"


Orders = tuple[tuple[SchedulingUnit, ...], ...]
"""The units of each mesh, in the order in which the mesh runs them."""


def inputs_of(
    unit: SchedulingUnit, stages: int, units: Container[SchedulingUnit], *, sums_after: bool = False
) -> Iterator[SchedulingUnit]:
    """Yield the units whose values a unit needs.

    Args:
        unit: the unit.
        stages: the number of stages.
        units: all units, which tell whether the backward fragments of a stage are split.
        sums_after: whether gradients are summed after all microbatches, instead of from one to the
            next.
    """
    microbatch, stage = unit.microbatch, unit.stage
    if unit.is_forward:
        if stage:
            yield SchedulingUnit("F", microbatch, stage - 1)
        return
    if unit.kind == "Bw":
        yield SchedulingUnit("Ba", microbatch, stage)
    else:
        yield SchedulingUnit("F", microbatch, stage)
        if stage + 1 < stages:
            yield from _present(("B", "Ba"), microbatch, stage + 1, units)
    if unit.adds_gradients and microbatch and not sums_after:
        yield from _present(("B", "Bw"), microbatch - 1, stage, units)


def _present(
    kinds: Sequence[str], microbatch: int, stage: int, units: Container[SchedulingUnit]
) -> Iterator[SchedulingUnit]:
    """Yield the unit of the kind that the program has."""
    for kind in kinds:
        unit = SchedulingUnit(kind, microbatch, stage)
        if unit in units:
            yield unit


def order_text(units: Sequence[SchedulingUnit], *, with_stages: bool) -> str:
    """Return units as text, such as `F0 F1 B0 B1`; with stages, `F0/0 F1/0 B0/0 B1/0`."""
    return " ".join(str(each) if with_stages else f"{each.kind}{each.microbatch}" for each in units)


def read_order(text: str, stage: int) -> tuple[SchedulingUnit, ...]:
    """Return the units that `order_text` wrote.

    Args:
        text: the units, separated by blanks.
        stage: the stage of units that are written without it.

    Raises:
        UsageError: a word isn't a unit.
    """
    units: list[SchedulingUnit] = []
    for word in text.split():
        match = _WRITTEN.fullmatch(word)
        if match is None:
            message = (
                f"'{word}' is no unit of a schedule: expected a unit such as 'F0', 'Ba3' or 'B1/2'"
            )
            raise UsageError(error(message))
        units.append(SchedulingUnit(match[1], int(match[2]), int(match[3] or stage)))
    return tuple(units)
