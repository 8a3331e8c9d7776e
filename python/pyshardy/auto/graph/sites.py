# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The choices of a program: the sites where a strategy is chosen, and the values between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Shape
from pyshardy.auto.strategies.alternatives import Alternatives


@dataclass(slots=True)
class Site:
    """A place where one of several strategies is chosen.

    Attributes:
        title: the name of the operation or of the value.
        alternatives: the strategies.
        repetitions: how often it is executed.
        kind: what distinguishes it from other sites with the same alternatives.
        location: the location of the operation; None for values.
        body: the number of the body that it is in.
        time: the time of its operation.
        is_late: whether its results are completed for later use only, beside other computation.
    """

    title: str
    alternatives: Alternatives
    repetitions: int
    kind: str
    location: ir.Location | None = None
    body: int = 0
    time: int = 0
    is_late: bool = False

    @property
    def name(self) -> str:
        """Its name in messages: an operation with its location, or a value."""
        if self.location is None:
            return self.title
        return f"{self.title} at {location_of(self.location)}"


@dataclass(slots=True)
class Flow:
    """A value that sites use.

    Attributes:
        producer: the number of the site that defines it.
        result: the number of the result.
        shape: the shape of the unsharded value.
        nbytes: its bytes.
        repetitions: how often it is resharded.
        users: the numbers of the sites that use it, with those of the operands.
        is_tied: whether all users need it as its producer gives it.
        start: the time of its definition.
        uses: the times of its first and last use; the time of its definition if it has none.
        is_fused: whether it is in memory only if it is resharded, since it is computed as a part of
            its users, also of those in functions that are inlined.
        has_memory: whether it takes memory.
        memory_of: the value whose memory it has; None if it has its own.
        sources: the operands of a fused operation, which are live until its last use.
        body: the number of the body that it is resharded in.
        can_wait: whether its reshards can run beside other computation: ahead of time, or late.
        needed: the time at which its first user computes with it; infinite if none does.
        moved_from: the value that it is a slice or another form of, if that can wait, too.
    """

    producer: int
    result: int
    shape: Shape
    nbytes: int
    repetitions: int
    users: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    is_tied: bool = False
    start: int = 0
    uses: tuple[int, int] = (0, 0)
    is_fused: bool = False
    has_memory: bool = True
    memory_of: Flow | None = None
    sources: list[Flow] = field(default_factory=list["Flow"])
    body: int = 0
    can_wait: bool = False
    needed: float = math.inf
    moved_from: Flow | None = None

    def add_use(self, time: int) -> None:
        """Note a use at a time, also of the values whose memory is live for it."""
        if not self.sources and self.memory_of is None:
            self._add_use(time)
            return
        waiting, seen = [self], set[int]()
        while waiting:
            flow = waiting.pop()
            if id(flow) in seen:
                continue
            seen.add(id(flow))
            flow._add_use(time)
            waiting += flow.sources
            if flow.memory_of is not None:
                waiting.append(flow.memory_of)

    def _add_use(self, time: int) -> None:
        first, last = self.uses
        self.uses = (time if first == self.start else min(first, time)), max(last, time)


@dataclass(slots=True)
class LoopBody:
    """The body of a loop, or the program around loops.

    Attributes:
        trips: the number of iterations in a row; 1 for the program, and if it isn't known.
        start: the time of its first operation.
        end: the time after the last one.
        first: the time of the first operation that can hide communication.
    """

    trips: int = 1
    start: int = 0
    end: int = 0
    first: float = math.inf


@dataclass(slots=True)
class Graph:
    """The choices of a program.

    Attributes:
        sites: the places of choices.
        flows: the values between them.
        placed: for each value the number of the site that defines it, and that of the result.
        results: for each annotated result of `@main` the number of its site.
        replicated: the operations that can't be computed on shards, with their locations.
        times: the operations by their times, which are the points of the program in its order.
        bodies: the program, and the bodies of its loops.
    """

    sites: list[Site] = field(default_factory=list[Site])
    flows: list[Flow] = field(default_factory=list[Flow])
    placed: dict[ir.Value, tuple[int, int]] = field(default_factory=dict[ir.Value, tuple[int, int]])
    results: dict[int, int] = field(default_factory=dict[int, int])
    replicated: list[str] = field(default_factory=list[str])
    times: list[str] = field(default_factory=list[str])
    bodies: list[LoopBody] = field(default_factory=lambda: [LoopBody()])
