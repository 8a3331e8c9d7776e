# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules, and their application with a preview of each step."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mlir_sdy.diagnostics import UsageError, error, wrong_type
from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple
from pyshardy.any_program import Program, module_of
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, report_hardware_of
from pyshardy.explain.annotated import Annotated
from pyshardy.explain.program import explain_propagated
from pyshardy.explain.program_explanation import ProgramExplanation
from pyshardy.pipelines.propagation import PropagationOptions
from pyshardy.propagation.debugging.explanation import Propagation
from pyshardy.schedules.files import read_tactics
from pyshardy.schedules.plan import Conflict, Plan, PlanStep
from pyshardy.schedules.state import ProgramState, Skipped, propagated_with
from pyshardy.schedules.tactics import Assignment, Tactic

_Axes = Mapping[int, tuple[AxisTuple, ...]]
"""The axes of the values of a propagation."""


@dataclass(frozen=True)
class Schedule:
    """A sequence of tactics.

        plan = sdy.Schedule([
            sdy.batch("batch", axis="data", name="BP"),
            sdy.megatron(("*.query", "*.up"), axis="model", name="MP"),
            sdy.zero(parameters="params*", axis="data", name="Z3"),
        ]).apply(module)
        print(plan[-1])

    1. The annotations of the program come first, as tactic 0.
    2. A tactic adds axes to values, after those that they have, and propagation goes on from there.
       It never removes an axis. What it can't do is listed with the reason.
    3. After each tactic, the program is partitioned, so that its effect is known.

    This is the model of PartIR (Alabed et al., ASPLOS 2025). The shardings are those of an
    annotated program in which the axes of tactic i have user priority i.

    Attributes:
        tactics: the tactics in order.
    """

    tactics: Iterable[Tactic] = field(default=())

    def __post_init__(self) -> None:
        if not isinstance(self.tactics, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("Schedule", "a list of tactics, such as sdy.batch(...)", self.tactics)
        tactics = tuple(self.tactics)
        for each in tactics:
            if not isinstance(each, Tactic):  # pyright: ignore[reportUnnecessaryIsInstance]
                message = "a schedule has tactics, such as sdy.batch(...)"
                raise UsageError(error(f"{message}, got: {each!r}"))
        object.__setattr__(self, "tactics", tactics)

    def apply(
        self,
        module: Program,
        *,
        hardware: Hardware | str = DEFAULT_HARDWARE,
        report_hardware: Hardware | str | None = None,
        options: PropagationOptions = PropagationOptions(),
    ) -> Plan:
        """Apply the tactics to a program one after another.

        Args:
            module: a program in any form, which isn't changed; its annotations come first.
            hardware: the hardware that the program is partitioned for, as in `partition`.
            report_hardware: the hardware of the cost estimate; by default `hardware`, or an H100.
            options: the options of `sdy-propagation-pipeline`.

        Raises:
            UsageError: a pattern matches nothing; the mesh has no such axis; the program has no
                mesh or no entry.
            PipelineError: propagation or partitioning fails.
        """
        model = report_hardware_of(hardware, report_hardware)
        start = time.perf_counter()
        state = ProgramState(module_of("Schedule.apply", module), options)
        steps: list[PlanStep] = []
        axes: _Axes = {}
        conflicts: frozenset[Conflict] = frozenset()
        for each in (None, *self.tactics):
            made: list[Assignment] = []
            skipped: list[Skipped] = []
            if each is not None:
                made, skipped = state.apply(each.effects(state.view()))
            propagated = state.propagate()
            record = propagated.record
            axes_after, conflicts_after = _axes_of(record), _conflicts_of(record)
            explained = explain_propagated(
                propagated.module,
                record,
                propagated.values,
                Annotated(propagated.annotated, propagated.values, options),
                hardware=hardware,
                report_hardware=model,
                title="annotations" if each is None else each.name,
            )
            end = time.perf_counter()
            steps.append(
                PlanStep(
                    each,
                    tuple(made),
                    tuple(skipped),
                    sum(axes_after[slot] != axes.get(slot, ()) for slot in axes_after),
                    tuple(conflicts_after - conflicts),
                    ProgramExplanation.of(explained),
                    end - start,
                )
            )
            start, axes, conflicts = end, axes_after, frozenset(conflicts_after)
        return Plan(steps, model)

    def propagated(
        self,
        module: Program,
        options: PropagationOptions = PropagationOptions(),
    ) -> ir.Module:
        """Return the program that `apply` ends with, without costs.

        Args:
            module: a program in any form, which isn't changed.
            options: the options of `sdy-propagation-pipeline`.

        Raises:
            UsageError: as for `apply`.
            PipelineError: propagation fails.
        """
        return propagated_with(module_of("Schedule.propagated", module), self.tactics, options)


def load_schedule(path: str | os.PathLike[str]) -> Schedule:
    """Return the schedule of a TOML file.

    Raises:
        UsageError: the file can't be read or is invalid; there is no such tactic or option.
    """
    return Schedule(read_tactics(path))


def _axes_of(record: Propagation) -> dict[int, tuple[AxisTuple, ...]]:
    """Return the axes of sharded values by their slots."""
    engine = record.engine
    found: dict[int, tuple[AxisTuple, ...]] = {}
    for slot in set(engine.program.slots):
        sharding = engine.sharding(slot)
        if sharding is not None and any(sharding.dim_axes):
            found[slot] = sharding.dim_axes
    return found


def _conflicts_of(record: Propagation) -> set[Conflict]:
    """Return the axes that values refuse, with the operations that would propagate them."""
    found: set[Conflict] = set()
    for slot in set(record.engine.program.slots):
        for number, refusal, _ in record.still_refused(slot):
            name, place = record.operation(number)
            where = name if place is None else f"{name} ({place})"
            found.add(Conflict(where, f"{refusal.axis}: {refusal.reason.value}"))
    return found
