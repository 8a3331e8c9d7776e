# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are propagated and partitioned with a record of all decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.api import propagate_with
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.display import Displayed, DisplayedText, Table
from pyshardy.explain.advice import Advice, advise
from pyshardy.explain.collective_list import CollectiveList
from pyshardy.explain.collectives import explain_collectives
from pyshardy.explain.estimate import Estimate, estimate
from pyshardy.explain.moves import MoveRecorder
from pyshardy.explain.resource_use import ResourceUse, resource_use_of
from pyshardy.irtools.named_values import NamedValues
from pyshardy.pipeline.collection import collection_paused
from pyshardy.program import PartitionedProgram, partition
from pyshardy.propagation.explained_record import Propagation
from pyshardy.propagation.explanation import Explanation

if TYPE_CHECKING:
    from pyshardy.pipeline.options import OptionValue
    from pyshardy.pipelines.partition import PartitionOptions
    from pyshardy.pipelines.propagation import PropagationOptions

COST_HARDWARE = "h100"
"""The hardware of cost estimates."""


@dataclass(frozen=True, repr=False)
class ExplainedProgram(Displayed):
    """A program with the reasons of its shardings and collectives, and its cost.

    Attributes:
        module: the propagated module.
        record: the steps of its propagation.
        program: the partitioned program.
        recorder: the record of its partitioning.
        values: the values of the propagated module by their names.
        hardware: the hardware of the cost estimate.
        title: the name of the program.
    """

    module: ir.Module
    record: Propagation
    program: PartitionedProgram
    recorder: MoveRecorder
    values: NamedValues
    hardware: Hardware
    title: str

    @cached_property
    def collectives(self) -> CollectiveList:
        """The explanations of the collectives, in the order of the program.

        They are those of pyshardy's partitioner; XLA may choose others.
        """
        with collection_paused():
            return CollectiveList(
                explain_collectives(self.program.collectives, self.recorder, self.record)
            )

    @cached_property
    def origins(self) -> Sequence[int | None]:
        """For each operation of the partitioned program the number of its origin in the record."""
        numbers = list(map(self.record.later_values.operation, self.recorder.operations))
        return [None if at is None else numbers[at] for at in self.recorder.origins]

    @cached_property
    def cost(self) -> Estimate:
        """The estimated time, operations, bytes and memory of a run on each device."""
        return estimate(self.program, self.hardware, self.resource_use)

    @cached_property
    def resource_use(self) -> ResourceUse:
        """The work and memory of the partitioned program."""
        return resource_use_of(self.program.module)

    def value(self, value: ir.Value | str) -> ValueExplanation:
        """Explain the sharding of a value and its refused axes.

        Args:
            value: a value of `module`, or its name: see `pyshardy.values`.

        Raises:
            UsageError: the value was not propagated; no value, or several ones, have the name.
        """
        found = self.values[value] if isinstance(value, str) else value
        try:
            explanation = self.record.explain(found)
        except ValueError as reason:
            raise UsageError(error(str(reason))) from None
        advice = tuple(advise(explanation, refused) for refused in explanation.refused)
        return ValueExplanation(explanation, advice)

    def summary(self) -> str:
        """Return the mesh, the collectives and the cost in one line."""
        mesh = f"mesh {self.program.mesh}"
        return f"{mesh}, {self.collectives.summary()}; {self.cost.summary()}"

    def tables(self) -> list[Table]:
        """Return tables of the arguments, the results, the collectives and the cost."""
        arguments, results, _ = self.program.tables()
        return [arguments, results, *self.collectives.tables(), *self.cost.tables()]


@dataclass(frozen=True, slots=True, repr=False)
class ValueExplanation(DisplayedText):
    """The reasons of the sharding of a value.

    Attributes:
        explanation: the source of each axis, and the refused axes.
        advice: for each refused axis, the change with which the value would take it.
    """

    explanation: Explanation
    advice: tuple[Advice, ...]

    def __str__(self) -> str:
        lines = [str(self.explanation)]
        told = dict.fromkeys(map(str, self.advice))
        if told:
            lines.append("  to take a refused axis ('sdy-explain --advise' tries it):")
            lines.extend(f"    {each}" for each in told)
        return "\n".join(lines)


def explain_program(
    module: ir.Module,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    cost_hardware: Hardware | str = COST_HARDWARE,
    title: str = "program",
    options: PropagationOptions | None = None,
    partition_options: PartitionOptions | None = None,
    marks_operations: bool = True,
    on_propagated: Callable[[ir.Module, Propagation], None] | None = None,
) -> ExplainedProgram:
    """Propagate and partition a program, and explain both.

        explained = explain_program(sdy.parse("model.mlir", context))
        print(explained.collectives[0])

    Args:
        module: the annotated program, which is propagated in place.
        hardware: the hardware that the program is partitioned for; see `partition`.
        cost_hardware: the hardware of the cost estimate.
        title: the name of the program.
        options: the options of `sdy-propagation-pipeline`.
        partition_options: the options of `sdy-partition-pipeline`.
        marks_operations: mark the operations of the module, so that `values` finds their results.
        on_propagated: called with the module and its record, before it is partitioned. It has to
            verify the module, which may happen beside the partitioning. The module isn't restored
            if propagation fails.

    Raises:
        PipelineError: propagation or partitioning fails.
        UsageError: the program has no mesh or no entry; there is no such option or
            hardware.
    """
    values = NamedValues.marked(module) if marks_operations else NamedValues(module)
    keywords = cast("Mapping[str, OptionValue]", options or {})
    record = propagate_with(module, keywords, is_temporary=on_propagated is not None)
    if on_propagated is not None:
        on_propagated(module, record)
    return explain_propagated(
        module,
        record,
        values,
        hardware=hardware,
        cost_hardware=cost_hardware,
        title=title,
        partition_options=partition_options,
    )


def explain_propagated(
    module: ir.Module,
    record: Propagation,
    values: NamedValues,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    cost_hardware: Hardware | str = COST_HARDWARE,
    title: str = "program",
    partition_options: PartitionOptions | None = None,
) -> ExplainedProgram:
    """Partition a propagated program, and explain both.

    Args:
        module: the propagated module.
        record: the record of its propagation.
        values: its values by name.
        hardware: as in `explain_program`, like the other arguments.
        cost_hardware: the hardware of the cost estimate.
        title: the name of the program.
        partition_options: the options of `sdy-partition-pipeline`.

    Raises:
        PipelineError: partitioning fails.
        UsageError: the program has no mesh or no entry; there is no such option or hardware.
    """
    model = load_hardware(cost_hardware) if isinstance(cost_hardware, str) else cost_hardware
    recorder = MoveRecorder(module)
    program = partition(
        module, hardware=hardware, instrumentation=[recorder], **(partition_options or {})
    )
    return ExplainedProgram(module, record, program, recorder, values, model, title)
