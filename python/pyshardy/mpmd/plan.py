# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of an exported program in their total order, as plain values; the actions of meshes.

Values have numbers: arguments first, then the results of the operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.discardable import get_discardable, text_of
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh
from mlir_sdy.mpmd.attributes import MeshTensorType, value_of
from mlir_sdy.mpmd.reading import (
    CALL_COUNTER,
    FRAGMENT,
    TRANSFER,
    body_of,
    integer_of,
    mesh_name_of,
    operations_of,
    origins_of,
    topology_of,
)
from mlir_sdy.mpmd.values import Topology, UserOrigin
from pyshardy.irtools.stablehlo_views import CallView
from pyshardy.local_program.values import spec_of
from pyshardy.mpmd.rewriting.functions import entry_points
from pyshardy.mpmd.rewriting.marks import inferred_by
from pyshardy.mpmd.rewriting.merging import STAGE, half_of
from pyshardy.pipeline import Instrumentation
from pyshardy.pipeline import Step as PassStep
from pyshardy.program_interface import Port, port_names

WAY = "mpmd.way"
"""The attribute of transfers with the way that the estimated time decided for."""

WAYS = "mpmd.ways"
"""The attribute of transfers with the estimated seconds of each way, if there are several."""

DIRECT, BY_PRODUCER, BY_CONSUMERS, GATHERED = "direct", "producer", "consumers", "gathered"
"""Ways: without a reshard, with a reshard before or after the transfer, with a gather after it."""


@dataclass(frozen=True, slots=True)
class FragmentCall:
    """The run of a fragment.

    Attributes:
        name: the name of its function.
        mesh: the mesh that runs it.
        origins: the names that it comes from.
        counter: the number of the microbatch; None without.
        stage: the stage; None without.
        half: `a` or `w` for the halves of a split backward fragment, else empty.
        operands: the values that it takes.
        results: the values that it computes.
        location: where it is in the source.
        inferred_by: the passes that made it, if it has no names.
    """

    name: str
    mesh: str
    origins: tuple[UserOrigin, ...]
    counter: int | None
    stage: int | None
    half: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    location: SourceLocation | None
    inferred_by: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the unit of the schedule: `F`, `B`, `Ba` or `Bw`; empty for another one."""
        counts = {each.transpose_count for each in self.origins}
        if self.counter is None or counts not in ({0}, {1}):
            return ""
        return f"{'FB'[counts.pop()]}{self.half}"

    @property
    def unit(self) -> str:
        """The unit of the schedule, such as `F0` or `Ba3`; the names or the function otherwise."""
        stage = "" if self.stage is None else f"/{self.stage}"
        return f"{self.kind}{self.counter}{stage}" if self.kind else self.names or self.name

    @property
    def names(self) -> str:
        """The names that it comes from; empty for a fragment that the compiler made."""
        return ", ".join(each.short.replace('"', "") for each in self.origins)


@dataclass(frozen=True, slots=True)
class MeshTransfer:
    """A value that goes to another mesh, or to another memory of its mesh.

    Attributes:
        number: its number in the total order.
        source: the mesh that has it.
        target: the mesh that gets it.
        operand: the value.
        result: the value there.
        location: where it is in the source.
        way: how the value gets its sharding there, see `WAY`.
        ways: the estimated seconds of each way, the fastest first; empty without a choice.
    """

    number: int
    source: str
    target: str
    operand: int
    result: int
    location: SourceLocation | None
    way: str = DIRECT
    ways: tuple[tuple[str, float], ...] = ()

    @property
    def name(self) -> str:
        """The name of the transfer."""
        return f"transfer {self.number}"

    @property
    def operands(self) -> tuple[int, ...]:
        """The value that it takes."""
        return (self.operand,)

    @property
    def results(self) -> tuple[int, ...]:
        """The value that it makes."""
        return (self.result,)


Step = FragmentCall | MeshTransfer


class Action(NamedTuple):
    """An action of a mesh.

    Attributes:
        kind: `run`, `send`, `recv` or `free`; `copy` for a transfer within a mesh.
        name: the unit or the transfer.
        step: the fragment or the transfer; None for values that are freed.
        values: the values that it takes, or frees.
    """

    kind: Literal["run", "send", "recv", "copy", "free"]
    name: str
    step: Step | None
    values: tuple[int, ...]

    def __str__(self) -> str:
        numbers = " ".join(f"%{each}" for each in self.values)
        return f"{self.kind} {self.name}: {numbers}" if self.name else f"{self.kind} {numbers}"


@dataclass(frozen=True)
class ExecutionPlan:
    """A program as the list of its fragments and transfers.

    Attributes:
        topology: the meshes.
        steps: the total order.
        ports: the layout of each value.
        inputs: the values of the arguments.
        outputs: the values that are results.
        result_names: the names of the results.
        meshes_of_values: the mesh of each value.
    """

    topology: Topology
    steps: tuple[Step, ...]
    ports: Mapping[int, Port]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    result_names: tuple[str, ...]
    meshes_of_values: Mapping[int, str]

    @property
    def results(self) -> tuple[Port, ...]:
        """The layouts of the results, with their names."""
        return tuple(
            replace(self.ports[value], name=name)
            for value, name in zip(self.outputs, self.result_names, strict=True)
        )

    @property
    def calls(self) -> list[FragmentCall]:
        """The fragments, in the total order."""
        return [each for each in self.steps if isinstance(each, FragmentCall)]

    @property
    def transfers(self) -> list[MeshTransfer]:
        """The transfers, in the total order."""
        return [each for each in self.steps if isinstance(each, MeshTransfer)]

    @cached_property
    def last_uses(self) -> dict[int, int]:
        """The number of the last step that uses a value; results of the program have none."""
        found = {value: number for number, step in enumerate(self.steps) for value in step.results}
        for number, step in enumerate(self.steps):
            found.update(dict.fromkeys(step.operands, number))
        return {value: each for value, each in found.items() if value not in self.outputs}

    @cached_property
    def freed_after(self) -> dict[int, tuple[int, ...]]:
        """The values whose last use a step is, by its number."""
        found: dict[int, tuple[int, ...]] = {}
        for value, number in self.last_uses.items():
            found[number] = (*found.get(number, ()), value)
        return found

    @cached_property
    def in_order(self) -> list[tuple[int, str, Action]]:
        """The actions in the total order, with the number of the step and the mesh."""
        found: list[tuple[int, str, Action]] = []
        for number, step in enumerate(self.steps):
            if isinstance(step, FragmentCall):
                found.append((number, step.mesh, Action("run", step.unit, step, step.operands)))
            elif step.source == step.target:
                found.append((number, step.source, Action("copy", step.name, step, step.operands)))
            else:
                found.append((number, step.source, Action("send", step.name, step, step.operands)))
                found.append((number, step.target, Action("recv", step.name, step, step.results)))
            for value in self.freed_after.get(number, ()):
                mesh = self.meshes_of_values[value]
                found.append((number, mesh, Action("free", "", None, (value,))))
        return found

    @cached_property
    def actions(self) -> dict[str, list[Action]]:
        """The actions of each mesh: its part of the total order."""
        return {
            name: [action for _, mesh, action in self.in_order if mesh == name]
            for name in self.topology.names
        }


class RecordedUnit(NamedTuple):
    """The place of a fragment in a schedule; the attributes are those of `FragmentCall`."""

    counter: int | None
    stage: int | None
    half: str
    inferred_by: tuple[str, ...]


class UnitRecorder(Instrumentation):
    """Records what fragments are in a schedule, which calls of their functions don't tell.

    Attributes:
        units: those of each fragment, in the total order.
    """

    def __init__(self) -> None:
        self.units: list[RecordedUnit] = []

    def after_pass(self, step: PassStep, module: ir.Module) -> None:
        """Record the fragments, until none is left."""
        del step
        fragments = [
            each
            for main in entry_points(module)
            for each in operations_of(body_of(main))
            if each.name == FRAGMENT
        ]
        if fragments:
            self.units = list(map(_unit, fragments))


def _unit(fragment: ir.Operation) -> RecordedUnit:
    counter, stage = integer_of(fragment, CALL_COUNTER), integer_of(fragment, STAGE)
    return RecordedUnit(counter, stage, half_of(fragment), tuple(inferred_by([fragment])))


def _ways(transfer: ir.Operation) -> tuple[tuple[str, float], ...]:
    listed = get_discardable(transfer, WAYS) or ()
    return tuple(sorted(((each.name, each.attr.value) for each in listed), key=lambda way: way[1]))


def execution_plan(main: ir.Operation, units: Sequence[RecordedUnit]) -> ExecutionPlan:
    """Return what the entry of an exported program does.

    Args:
        main: the entry.
        units: what its calls are in the schedule, as `UnitRecorder` has it.
    """
    topology = topology_of(main)
    assert topology is not None, "it is an entry point"
    meshes = {each.name: each.mesh for each in topology.meshes}
    numbers: dict[ir.Value, int] = {}
    ports: dict[int, Port] = {}
    homes: dict[int, str] = {}

    def number(values: Sequence[ir.Value], names: Sequence[str]) -> tuple[int, ...]:
        for value, name in zip(values, names, strict=True):
            ports[len(numbers)] = port_of(value, name, meshes)
            homes[len(numbers)] = MeshTensorType(value.type).mesh_name
            numbers[value] = len(numbers)
        return tuple(numbers[value] for value in values)

    body = body_of(main)
    arguments, results = port_names(main)
    inputs = number(list(body.arguments), arguments)
    steps: list[Step] = []
    *operations, end = operations_of(body)
    for operation in operations:
        operands = tuple(numbers[value] for value in operation.operands)
        place = location_of(operation.location)
        if operation.name == TRANSFER:
            count = sum(isinstance(each, MeshTransfer) for each in steps)
            (result,) = number(operation.results, [f"transfer {count}"])
            source, target = (
                MeshTensorType(each.type).mesh_name
                for each in (operation.operands[0], operation.results[0])
            )
            way = text_of(operation, WAY) or DIRECT
            ways = _ways(operation)
            steps.append(MeshTransfer(count, source, target, operands[0], result, place, way, ways))
            continue
        name = CallView(operation).callee
        names = [f"result {index} of {name}" for index in range(len(operation.results))]
        unit = units[sum(isinstance(each, FragmentCall) for each in steps)]
        call = FragmentCall(
            name,
            mesh_name_of(operation),
            origins_of(operation),
            unit.counter,
            unit.stage,
            unit.half,
            operands,
            number(operation.results, names),
            place,
            unit.inferred_by,
        )
        steps.append(call)
    outputs = tuple(numbers[value] for value in end.operands)
    return ExecutionPlan(topology, tuple(steps), ports, inputs, outputs, tuple(results), homes)


def port_of(value: ir.Value, name: str, meshes: Mapping[str, Mesh]) -> Port:
    """Return the layout of a value by its type."""
    spec = spec_of(MeshTensorType(value.type).global_type, None)
    told = value_of(value.type)
    mesh = meshes[told.mesh_name]
    shape = spec.shape if told.sharding is None else told.sharding.local_shape(spec.shape, mesh)
    return Port(name, spec, told.sharding, spec.with_shape(shape), mesh)
