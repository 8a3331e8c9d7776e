# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are propagated and partitioned with a record of all decisions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast, overload

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.api import propagate_with
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, load_hardware, report_hardware_of
from pyshardy.display import Displayed, Table, counted
from pyshardy.explain.annotated import Annotated
from pyshardy.explain.collectives import CollectiveExplanation, explain_collectives
from pyshardy.explain.estimate import Estimate, estimate
from pyshardy.explain.moves import MoveRecorder
from pyshardy.explain.reasons import ProgramForm, ProgramReasons, Reason, ValueExplanation
from pyshardy.explain.replicated import ReplicatedValues, replicated_values
from pyshardy.forms import Form
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.named_values import NamedValues
from pyshardy.pipeline.collection import collection_paused
from pyshardy.program import PartitionedProgram, partition
from pyshardy.propagation.debugging.explanation import Propagation
from pyshardy.timeline.durations import ResourceUse, resource_use_of
from pyshardy.timeline.run import Timeline, run_timeline

if TYPE_CHECKING:
    from pyshardy.explain.sizes import SizesComparison
    from pyshardy.pipeline.options import OptionValue
    from pyshardy.pipelines.partition import PartitionOptions
    from pyshardy.pipelines.propagation import PropagationOptions


_NUMBER = re.compile(r"\d+")

_OTHER_GROUPS = "other groups"
"""The name for the axes of collectives whose groups don't correspond to axes."""

_Key = TypeVar("_Key")


@dataclass(frozen=True, repr=False)
class ExplainedProgram(Displayed):
    """A program with the reasons of its shardings and collectives, and its cost.

    Attributes:
        module: the propagated module.
        record: the steps of its propagation.
        program: the partitioned program.
        recorder: the record of its partitioning.
        values: the values of the propagated module by their names.
        annotated: the program as it was before propagation.
        report_hardware: the hardware of the cost estimate.
        title: the name of the program.
        form: the form of shardings in texts: that of the front end that the program comes from.
        hardware: the hardware that the program is partitioned for.
        sizes: for a program with dynamic sizes, its plan at several of them.
    """

    module: ir.Module
    record: Propagation
    program: PartitionedProgram
    recorder: MoveRecorder
    values: NamedValues
    annotated: Annotated
    report_hardware: Hardware
    title: str
    form: Form = "sdy"
    hardware: Hardware | str = DEFAULT_HARDWARE
    sizes: SizesComparison | None = None

    @cached_property
    def collectives(self) -> CollectiveList:
        """The explanations of the collectives, in the order of the program.

        They are those of pyshardy's partitioner; XLA may choose others.
        """
        with collection_paused():
            return CollectiveList(
                explain_collectives(
                    self.program.collectives,
                    self.recorder,
                    self.record,
                    self.in_form,
                    load_hardware(self.hardware),
                )
            )

    @cached_property
    def origins(self) -> Sequence[int | None]:
        """For each operation of the partitioned program the number of its origin in the record."""
        numbers = list(map(self.record.later_values.operation, self.recorder.operations))
        return [None if at is None else numbers[at] for at in self.recorder.origins]

    @cached_property
    def cost(self) -> Estimate:
        """The estimated time, operations, bytes and memory of a run on each device."""
        return estimate(self.program, self.report_hardware, self.resource_use, self.timeline)

    @cached_property
    def timeline(self) -> Timeline:
        """The scheduled timeline of a run on each device."""
        return run_timeline(self.resource_use, self.program.collectives, self.report_hardware)

    @cached_property
    def resource_use(self) -> ResourceUse:
        """The work and memory of the partitioned program."""
        return resource_use_of(self.program.module)

    def in_form(self, text: str) -> str:
        """Return a text with its shardings in the form of the program."""
        return ProgramForm(self.record, self.form)(text)

    def value(self, value: ir.Value | str) -> ValueExplanation:
        """Explain the sharding of a value and its refused axes.

        Args:
            value: a value of `module`, or its name: see `pyshardy.values`.

        Raises:
            UsageError: the value was not propagated; no value, or several ones, have the name.
        """
        found = value if isinstance(value, ir.Value) else self.values[value]
        try:
            explanation = self.record.explain(found, self.program_reasons.finder)
            slot = self.record.slot(found)
        except ValueError as reason:
            raise UsageError(error(str(reason))) from None
        return ValueExplanation(explanation, self.program_reasons.of_tensor(slot), found)

    def find(self, word: str) -> tuple[ValueExplanation, ...]:
        """Explain all values that a word identifies, such as those of a source line.

        Args:
            word: a name, a pattern or a source line: see `pyshardy.values`.

        Raises:
            UsageError: there is no such value.
        """
        return tuple(self.value(each) for each in self.values.find(word))

    def replicated(self, count: int = 8) -> ReplicatedValues:
        """Return the values that waste most memory by being replicated, equal layers together.

            print(explained.replicated())

        Args:
            count: the number of groups of values.
        """
        with collection_paused():
            return replicated_values(self.program_reasons, count)

    def reasons(self) -> Iterator[Reason]:
        """Yield the reason of each pair of a value of rank 1 or more and an axis of its mesh.

            Counter(reason.kind for reason in explained.reasons())

        Values that share a sharding, as those of a loop, are one. Axes of one device are left out.
        """
        with collection_paused():
            yield from self.program_reasons

    @cached_property
    def program_reasons(self) -> ProgramReasons:
        """The reasons by tensor, as `reasons` and `value` have them."""
        return ProgramReasons(self.record, self.annotated, self.module, self.form)

    def summary(self) -> str:
        """Return the mesh, the collectives and the cost in one line."""
        mesh = f"mesh {self.program.mesh}"
        return f"{mesh}, {self.collectives.summary()}; {self.cost.summary()}"

    def tables(self) -> list[Table]:
        """Return tables of the arguments, the results, the collectives and the cost."""
        ports = self.program.tables(self.form)[:2]
        sizes = [] if self.sizes is None else self.sizes.tables()
        return [*sizes, *ports, *self.collectives.tables(), *self.cost.tables()]


def explain_program(
    module: ir.Module,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    report_hardware: Hardware | str | None = None,
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
        report_hardware: the hardware of the cost estimate; see `report_hardware_of`.
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
    annotated = Annotated(copy_of(module), values, options)
    keywords = cast("Mapping[str, OptionValue]", options or {})
    record = propagate_with(module, keywords, is_temporary=on_propagated is not None)
    if on_propagated is not None:
        on_propagated(module, record)
    return explain_propagated(
        module,
        record,
        values,
        annotated,
        hardware=hardware,
        report_hardware=report_hardware,
        title=title,
        partition_options=partition_options,
    )


def explain_propagated(
    module: ir.Module,
    record: Propagation,
    values: NamedValues,
    annotated: Annotated,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    report_hardware: Hardware | str | None = None,
    title: str = "program",
    partition_options: PartitionOptions | None = None,
) -> ExplainedProgram:
    """Partition a propagated program, and explain both.

    Args:
        module: the propagated module.
        record: the record of its propagation.
        values: its values by name.
        annotated: the program as it was before.
        hardware: as in `explain_program`, like the other arguments.
        report_hardware: the hardware of the cost estimate; see `report_hardware_of`.
        title: the name of the program.
        partition_options: the options of `sdy-partition-pipeline`.

    Raises:
        PipelineError: partitioning fails.
        UsageError: the program has no mesh or no entry; there is no such option or hardware.
    """
    model = report_hardware_of(hardware, report_hardware)
    recorder = MoveRecorder(module)
    program = partition(
        module, hardware=hardware, instrumentation=[recorder], **(partition_options or {})
    )
    return ExplainedProgram(module, record, program, recorder, values, annotated, model, title)


# --- Lists of collectives ------------------------------------------------------------------------


class CollectiveList(Sequence[CollectiveExplanation], Displayed):
    """The collectives of a program, or some of them, in the order of the program.

        explained.collectives.by_axes()["data"].nbytes_sent

    Args:
        items: the collectives.
    """

    def __init__(self, items: Iterable[CollectiveExplanation]):
        self._items = tuple(items)

    @overload
    def __getitem__(self, index: int) -> CollectiveExplanation: ...
    @overload
    def __getitem__(self, index: slice) -> CollectiveList: ...
    def __getitem__(self, index: int | slice) -> CollectiveExplanation | CollectiveList:
        found = self._items[index]
        return CollectiveList(found) if isinstance(found, tuple) else found

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CollectiveList) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    @property
    def nbytes_sent(self) -> int:
        """The bytes that a device sends in a run; a loop of unknown trip count runs once."""
        return sum(each.nbytes_total for each in self)

    def by_kind(self) -> dict[str, CollectiveList]:
        """Return the collectives of each kind, that which sends most bytes first."""
        return self._grouped(lambda each: each.collective.kind)

    def by_axes(self) -> dict[str, CollectiveList]:
        """Return the collectives of each combination of axes: `data`, or `data, model`."""
        return self._grouped(_axes_text)

    def by_reason(self) -> dict[str, CollectiveList]:
        """Return the collectives of each reason, equal layers together: `layers.*.w`."""
        labels = _folded_reasons(self)
        return self._grouped(lambda each: labels[each.reason])

    def summary(self) -> str:
        """Return the number of collectives, the bytes sent, and the numbers of each kind."""
        kinds = (f"{len(group)} {kind}" for kind, group in self.by_kind().items())
        text = f"{counted(len(self), 'collective')}, {counted(self.nbytes_sent, 'byte')} sent"
        return ": ".join(filter(None, (text, ", ".join(kinds))))

    def tables(self) -> list[Table]:
        """Return a table of the groups of equal kind, axes and reason."""
        labels = _folded_reasons(self)
        groups = self._grouped(
            lambda each: (each.collective.kind, _axes_text(each), labels[each.reason])
        )
        total = self.nbytes_sent
        rows = [
            (*key, len(group), f"{group.nbytes_sent:,}", _share(group.nbytes_sent, total))
            for key, group in groups.items()
        ]
        headings = ("collective", "axes", "reason", "count", "bytes sent", "share")
        title = "Collectives of pyshardy's partitioner (bytes sent by each device)"
        return [Table(title, headings, rows, num_numeric=3)]

    def _grouped(self, key: Callable[[CollectiveExplanation], _Key]) -> dict[_Key, CollectiveList]:
        groups: defaultdict[_Key, list[CollectiveExplanation]] = defaultdict(list)
        for each in self:
            groups[key(each)].append(each)
        lists = {name: CollectiveList(group) for name, group in groups.items()}
        return dict(sorted(lists.items(), key=lambda item: -item[1].nbytes_sent))


def _folded_reasons(explanations: Iterable[CollectiveExplanation]) -> dict[str, str]:
    """Return for each reason its text with `*` for numbers, if reasons differ in these only."""
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for each in explanations:
        groups[_NUMBER.sub("*", each.reason)].add(each.reason)
    return {
        reason: folded if len(reasons) > 1 else reason
        for folded, reasons in groups.items()
        for reason in reasons
    }


def _axes_text(explanation: CollectiveExplanation) -> str:
    """Return the axes of a collective as text."""
    return ", ".join(explanation.collective.axes or (_OTHER_GROUPS,))


def _share(part: int, total: int) -> str:
    return f"{part / total:.0%}" if total else ""
