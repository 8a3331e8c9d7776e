# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explanations of the transfers and fragments of a program.

program.explain("transfer 3")
program.explain("p1_layer1_fwd_calls0to3.step")
program.explain("m1 F3")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import body_of, returned_values
from mlir_sdy.suggest import did_you_mean
from pyshardy.cost.hardware import Hardware
from pyshardy.display import Displayed, Table, counted, seconds_text
from pyshardy.explain.entry import explain as explain_program
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program_explanation import ProgramExplanation
from pyshardy.forms import spec_text
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.mpmd.plan import ExecutionPlan, FragmentCall, MeshTransfer
from pyshardy.mpmd.rewriting.marks import is_reduction
from pyshardy.mpmd.timeline import MpmdTimeline
from pyshardy.program import PartitionedProgram
from pyshardy.program_interface import Port

_MOST_NAMES = 4
"""The most names that a reason lists."""


@dataclass(frozen=True, slots=True)
class ValueEnd:
    """The maker or a user of a value, with its line.

    Attributes:
        step: the fragment, or "argument x" or "result x" of the program.
        mesh: its mesh.
        location: the line of the operation.
    """

    step: str
    mesh: str
    location: SourceLocation | None

    def __str__(self) -> str:
        line = "" if self.location is None else f", {self.location}"
        return f"{self.step} on {self.mesh}{line}"


@dataclass(frozen=True, repr=False)
class TransferExplanation(Displayed):
    """The reason and the costs of a transfer.

    Attributes:
        transfer: the transfer.
        source: the layout of the value where it comes from.
        target: its layout on the other mesh.
        producer: what makes the value.
        consumers: what uses it there.
        reason: why it has to go there.
        nbytes: the bytes of all messages.
        seconds: the estimated time.
    """

    transfer: MeshTransfer
    source: Port
    target: Port
    producer: ValueEnd
    consumers: tuple[ValueEnd, ...]
    reason: str
    nbytes: int
    seconds: float

    def summary(self) -> str:
        """Return what goes where, and why, in one line."""
        ends = f"{self.transfer.source} to {self.transfer.target}"
        return (
            f"{self.transfer.name}: {self.source.spec} from {ends}, {counted(self.nbytes, 'byte')} "
            f"in {seconds_text(self.seconds)}; {self.reason}"
        )

    def tables(self) -> list[Table]:
        """Return a table of the value, its ends, and the reason."""
        rows = [
            ("value", str(self.source.spec)),
            (f"sharding on {self.transfer.source}", _sharding_text(self.source)),
            (f"sharding on {self.transfer.target}", _sharding_text(self.target)),
            ("made by", str(self.producer)),
            *(("used by", str(each)) for each in self.consumers),
            ("reason", self.reason),
            ("way", self.transfer.way),
            *((f"estimate, {way}", seconds_text(each)) for way, each in self.transfer.ways),
            ("bytes", f"{self.nbytes:,}"),
            ("time", seconds_text(self.seconds)),
        ]
        return [Table(self.transfer.name, ("what", ""), rows)]


@dataclass(frozen=True, repr=False)
class FragmentExplanation(Displayed):
    """A fragment: its runs, and the explanation of its program.

    Attributes:
        name: the name of its function.
        calls: its runs.
        program: the explanation of its program.
        seconds: the estimated time of a run.
    """

    name: str
    calls: tuple[FragmentCall, ...]
    program: ProgramExplanation
    seconds: float

    def summary(self) -> str:
        """Return its meshes, names and time in one line."""
        first = self.calls[0]
        made = first.names or f"made by {', '.join(first.inferred_by) or 'the compiler'}"
        line = "" if first.location is None else f", {first.location}"
        return f"{self.name} on {first.mesh}: {made}, {seconds_text(self.seconds)}{line}"

    def tables(self) -> list[Table]:
        """Return a table of its runs, and the tables of its program."""
        rows = [(each.unit, each.mesh, str(each.location or "")) for each in self.calls]
        return [Table(self.summary(), ("run", "mesh", "line"), rows), *self.program.tables()]


def explain(
    module: ir.Module,
    plan: ExecutionPlan,
    programs: Mapping[str, PartitionedProgram],
    what: str,
    line: MpmdTimeline,
    hardware: Hardware,
) -> TransferExplanation | FragmentExplanation:
    """Explain a transfer or a fragment; see `MpmdProgram.explain`.

    Args:
        module: the exported module.
        plan: its steps.
        programs: the programs of its fragments.
        what: the transfer or fragment.
        line: when the steps run.
        hardware: the hardware of the estimate.
    """
    seconds = {id(each.step): float(each.end - each.start) for each in line.spans}
    for span in line.transfers:
        transfer = span.step
        if isinstance(transfer, MeshTransfer) and transfer.name == what:
            reader = _Reader(module, plan)
            return TransferExplanation(
                transfer,
                plan.ports[transfer.operand],
                plan.ports[transfer.result],
                reader.producer(transfer.operand),
                reader.consumers(transfer.result),
                reader.reason(transfer),
                span.nbytes,
                seconds[id(transfer)],
            )
    found = [each for each in plan.calls if what in (each.name, f"{each.mesh} {each.unit}")]
    if not found:
        known = [each.name for each in plan.transfers]
        known += [*programs, *(f"{each.mesh} {each.unit}" for each in plan.calls)]
        advice = did_you_mean(str(what), known) or "; expected 'transfer 0', 'm0 F0', or a function"
        raise UsageError(error(f"the program has no '{what}'{advice}"))
    name = found[0].name
    return FragmentExplanation(
        name,
        tuple(each for each in plan.calls if each.name == name),
        explain_program(programs[name], report_hardware=hardware),
        seconds[id(found[0])],
    )


def fragment_page(program: PartitionedProgram, hardware: Hardware) -> str:
    """Return the report of the program of a fragment as HTML."""
    return render_page(explain_program(program, report_hardware=hardware), "fragment")


class _Reader:
    """Reads where the values of a program are made and used."""

    def __init__(self, module: ir.Module, plan: ExecutionPlan) -> None:
        self._plan = plan
        self._functions = {symbol_name(each): each for each in functions_of(module)}
        self._makers = {value: step for step in plan.steps for value in step.results}

    def maker(self, value: int) -> FragmentCall | None:
        """Return the fragment that makes a value; None for an argument."""
        step = self._makers.get(value)
        return self.maker(step.operand) if isinstance(step, MeshTransfer) else step

    def users(self, value: int) -> list[FragmentCall]:
        """Return the fragments that use a value."""
        return [each for each in self._plan.calls if value in each.operands]

    def producer(self, value: int) -> ValueEnd:
        """Return what makes a value that a mesh has, or gets itself."""
        step = self._makers.get(value)
        if isinstance(step, MeshTransfer):
            return self.producer(step.operand)
        if step is None:
            mesh = self._plan.meshes_of_values[value]
            return ValueEnd(f"argument {self._plan.ports[value].name}", mesh, None)
        made = returned_values(self._functions[step.name])[step.results.index(value)].owner
        place = step.location if isinstance(made, ir.Block) else location_of(made.location)
        return ValueEnd(
            f"{step.unit} ({step.names or step.name})", step.mesh, place or step.location
        )

    def consumers(self, value: int) -> tuple[ValueEnd, ...]:
        """Return what uses a value on its mesh, or sends it to a further one."""
        found: list[ValueEnd] = []
        for call in self.users(value):
            user = self.first_use(call, value)
            line = None if user is None else location_of(user.location)
            found.append(
                ValueEnd(
                    f"{call.unit} ({call.names or call.name})", call.mesh, line or call.location
                )
            )
        found += [
            ValueEnd(f"{each.name} to {each.target}", each.source, each.location)
            for each in self._plan.transfers
            if each.operand == value
        ]
        for port, output in zip(self._plan.results, self._plan.outputs, strict=True):
            if output == value:
                mesh = self._plan.meshes_of_values[value]
                found.append(ValueEnd(f"result {port.name}", mesh, None))
        return tuple(found)

    def first_use(self, call: FragmentCall, value: int) -> ir.Operation | None:
        """Return the first operation of a fragment that uses one of its operands."""
        argument = body_of(self._functions[call.name]).arguments[call.operands.index(value)]
        return next((use.owner.operation for use in reversed(list(argument.uses))), None)

    def reason(self, transfer: MeshTransfer) -> str:
        """Return why a value goes to another mesh."""
        made, users = self.maker(transfer.operand), self.users(transfer.result)
        firsts = (self.first_use(each, transfer.result) for each in users)
        if any(each is not None and is_reduction(each) for each in firsts):
            return f"a reduction of values of several meshes is on {transfer.target}"
        for each, does in ((made, "makes"), *((user, "needs") for user in users)):
            if each is not None and not each.origins:
                passes = ", ".join(each.inferred_by) or "the compiler"
                return f"inferred: {each.mesh}, chosen by {passes}, {does} it without a name"
        where = f"{transfer.target} needs it"
        if users:
            where = f"{_told(users)} on {transfer.target}"
        elif any(each.operand == transfer.result for each in self._plan.transfers):
            where = f"{transfer.target} sends it on to a further mesh"
        elif transfer.result in self._plan.outputs:
            where = f"a result is on {transfer.target}"
        if made is None:
            return f"assignment: the argument is on {transfer.source}, and {where}"
        return f"assignment: {_told([made])} on {made.mesh}, and {where}"


def _told(calls: Sequence[FragmentCall]) -> str:
    names = list(dict.fromkeys(each for call in calls for each in call.names.split(", ")))
    if len(names) > _MOST_NAMES:
        return f"{names[0]} to {names[-1]} are"
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _sharding_text(port: Port) -> str:
    return "replicated" if port.sharding is None else spec_text(port.sharding)
