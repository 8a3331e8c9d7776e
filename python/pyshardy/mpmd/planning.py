# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.mpmd.auto`: the mesh of each name, by the cost model.

1. The program is partitioned with a mesh for each name of its chain. So each name has the seconds
   of its fragments and its memory, and each boundary between names the transfers over it.
2. `boundaries` finds the best plans by its model of a step.
3. These are simulated under each schedule; the fastest is chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, SupportsIndex, cast

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.suggest import did_you_mean
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.display import Displayed, Table, bytes_of_text, counted, seconds_text
from pyshardy.mpmd.boundaries import Boundaries, Chain, best_boundaries
from pyshardy.mpmd.partitioning import partition
from pyshardy.mpmd.passes.import_names import names_in_order
from pyshardy.mpmd.passes.reshards import OpenTransfer, ways_of
from pyshardy.mpmd.plan import FragmentCall, MeshTransfer
from pyshardy.mpmd.program import MpmdProgram
from pyshardy.mpmd.schedules.schedule import NamedSchedule, WrittenSchedule, listed, read_schedule
from pyshardy.mpmd.schedules.units import Pipeline, SchedulingUnit
from pyshardy.mpmd.simulator import simulate
from pyshardy.mpmd.timeline import MeshTimeline
from pyshardy.mpmd.tracing import Axes, Topology, annotate, trace

_EVERY = "m0"
"""The mesh of all names in a program whose names are not assigned yet."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The time and the memory of a name on its mesh.

    Attributes:
        name: the name.
        forward: the seconds of its forward fragments for a microbatch.
        backward: those of its backward fragments.
        once: the seconds of fragments that run once in a step, such as the update of parameters.
        held: the bytes of arguments and sums on a device.
        live: the bytes that wait for the backward fragments of one microbatch.
        temporary: the most bytes that a fragment takes besides.
    """

    name: str
    forward: float
    backward: float
    once: float
    held: int
    live: int
    temporary: int


@dataclass(frozen=True, slots=True)
class Cut:
    """The seconds of the transfers over a boundary for a microbatch, by their direction."""

    forward: float = 0.0
    backward: float = 0.0


@dataclass(frozen=True, slots=True)
class SimulatedPlan:
    """Boundaries with a schedule.

    Attributes:
        boundaries: the layers of each mesh, with the seconds of a step by the model.
        schedule: the schedule.
        seconds: the seconds of a step by the simulator.
    """

    boundaries: Boundaries
    schedule: str
    seconds: float


@dataclass(frozen=True, repr=False)
class PipelinePlan(Displayed):
    """The mesh of each name.

    Attributes:
        module: the program, traced.
        layers: the chain of names, with what each takes.
        meshes: the names of the meshes.
        mesh: the axes of each mesh.
        candidates: the plans that were simulated, the fastest first.
        pinned: the meshes of names that were given.
        hardware: the devices and links.
    """

    module: ir.Module
    layers: tuple[Layer, ...]
    meshes: tuple[str, ...]
    mesh: Axes
    candidates: tuple[SimulatedPlan, ...]
    pinned: Mapping[str, str]
    hardware: Hardware

    @property
    def best(self) -> SimulatedPlan:
        """The fastest plan."""
        return self.candidates[0]

    @property
    def assignment(self) -> dict[str, str]:
        """The mesh of each name."""
        placed = {
            self.layers[layer].name: mesh
            for mesh, interval in zip(self.meshes, self.best.boundaries.intervals, strict=True)
            for layer in interval
        }
        return {**self.pinned, **placed}

    @property
    def bound(self) -> float:
        """The least seconds of a step by the model of `boundaries`, over all boundaries."""
        return min(each.boundaries.total for each in self.candidates)

    @cached_property
    def program(self) -> MpmdProgram:
        """The program, partitioned by this plan."""
        return partition(
            self.module,
            schedule=self.best.schedule,
            topology=dict.fromkeys(self.meshes, self.mesh),
            assignment=self.assignment,
            hardware=self.hardware,
        )

    def to_toml(self) -> str:
        """Return the plan as a file for the tools."""
        lines = [f'schedule = "{self.best.schedule}"', "", "[assignment]"]
        lines += [f'"{name}" = "{mesh}"' for name, mesh in self.assignment.items()]
        return "\n".join(lines) + "\n"

    def summary(self) -> str:
        """Return the time of the plan, and the least time by the model, in a line."""
        return (
            f"{counted(len(self.layers), 'name')} on meshes {', '.join(self.meshes)}, "
            f"{self.best.schedule}: {seconds_text(self.best.seconds)} simulated; boundaries of "
            f"{seconds_text(self.best.boundaries.total)} by the model, of which none has less than "
            f"{seconds_text(self.bound)}"
        )

    def tables(self) -> list[Table]:
        """Return a table of the plans that were simulated."""
        rows = [
            (
                each.schedule,
                " | ".join(self._names(interval) for interval in each.boundaries.intervals),
                seconds_text(each.seconds),
                f"{each.seconds / self.best.seconds - 1:+.1%}",
                seconds_text(each.boundaries.total),
            )
            for each in self.candidates
        ]
        headings = ("schedule", "names of each mesh", "simulated", "more", "by the model")
        return [Table(f"Boundaries: {self.summary()}", headings, rows)]

    def _names(self, interval: range) -> str:
        first, last = self.layers[interval[0]].name, self.layers[interval[-1]].name
        return first if first == last else f"{first} .. {last}"


def auto(
    function: Callable[..., Any],
    *arguments: Any,
    meshes: int,
    mesh: Axes,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    memory: int | str | None = None,
    schedules: Sequence[str] = ("1f1b",),
    pinned: Mapping[str, int] | None = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    donate_argnums: int | Sequence[int] = (),
    keep: Sequence[tuple[int, int]] = (),
) -> PipelinePlan:
    """Find the mesh of each name of a function, for the shortest time of a step.

        plan = sdy.mpmd.auto(step, params, state, batch, meshes=4, mesh={"data": 8, "model": 8})
        print(plan)
        outputs = plan.program.run(inputs)

    Names are a chain, in the order in which the function calls them. Shardings are those of the
    annotations. Among all boundaries between names the plan is the best one by the model, which
    `plan.bound` tells; the best five of each schedule are simulated.

    Args:
        function: the function, as for `sdy.mpmd.trace`.
        arguments: its arguments.
        meshes: the number of meshes.
        mesh: the axes of each mesh.
        hardware: the devices and links.
        memory: the memory of a device, in bytes or as `"80GB"`; by default that of the hardware.
        schedules: the schedules to choose from, with one stage on each mesh.
        pinned: the numbers of the meshes of names that must be on one, and of named tensors.
        in_shardings: as for `sdy.jax.trace`.
        out_shardings: as for `sdy.jax.trace`.
        donate_argnums: as for `sdy.jax.trace`.
        keep: as for `sdy.mpmd.trace`.

    Raises:
        UsageError: there are fewer names than meshes; no boundaries fit into the memory; there is
            no such schedule; as for `sdy.mpmd.trace`.
        PipelineError: as for `sdy.mpmd.partition`.
    """
    model = load_hardware(hardware) if isinstance(hardware, str) else hardware
    options = list(map(read_schedule, listed(schedules)))
    module = trace(
        function,
        *arguments,
        topology={_EVERY: mesh},
        assignment={"*": _EVERY},
        in_shardings=in_shardings,
        out_shardings=out_shardings,
        donate_argnums=donate_argnums,
        keep=keep,
    )
    names, tensors = names_in_order(module)
    if not names:
        message = "the program has no names of computations: use 'sdy.mpmd.named_computation'"
        raise UsageError(error(message))
    numbers = dict(pinned or {})
    for name, number in numbers.items():
        if name not in names and name not in tensors:
            advice = did_you_mean(name, [*names, *tensors])
            raise UsageError(error(f"'pinned' has '{name}', which the program doesn't{advice}"))
        if not isinstance(cast("object", number), SupportsIndex) or number not in range(meshes):
            message = f"'pinned' has {number!r} for '{name}': expected the number of a mesh, 0 to "
            raise UsageError(error(f"{message}{meshes - 1}"))
    if missing := [each for each in tensors if each not in numbers]:
        raise UsageError(error(f"the tensor '{missing[0]}' is in no chain: pin it to a mesh"))
    alone = partition(
        module,
        schedule="none",
        topology={f"at{index}": mesh for index in range(len(names))},
        assignment={name: f"at{index}" for index, name in enumerate(names)}
        | dict.fromkeys(tensors, "at0"),
        transfers="same-sharding",  # a layer in the midst of a mesh gathers nothing
        hardware=model,
    )
    measured = _Measured(alone, names, model)
    layers, cuts = measured.layers(), measured.cuts()
    pipeline = Pipeline(meshes, measured.microbatches)
    limit = bytes_of_text(memory, "memory") if memory is not None else int(model.bytes_of_memory)
    on_meshes = {names.index(name): on for name, on in numbers.items() if name in names}
    candidates = [
        SimulatedPlan(each, str(schedule), _simulated(each, layers, cuts, pipeline, schedule))
        for schedule in options
        for each in best_boundaries(_chain(layers, cuts, pipeline, schedule, limit, on_meshes))
    ]
    told = tuple(f"m{number}" for number in range(meshes))
    ranked = sorted(candidates, key=lambda each: each.seconds)
    placed = {name: told[number] for name, number in numbers.items()}
    annotate(module, Topology(dict.fromkeys(told, mesh)), {}, {}, ())
    return PipelinePlan(module, layers, told, mesh, tuple(ranked), placed, model)


# --- What each layer takes ------------------------------------------------------------------------


class _Measured:
    """Reads the times and the memory of names from a program with a mesh for each name.

    Args:
        program: the program.
        names: the names, in the order of the meshes.
        hardware: the devices and links.
    """

    def __init__(self, program: MpmdProgram, names: Sequence[str], hardware: Hardware) -> None:
        self._plan, self._names, self._hardware = program.plan, names, hardware
        self._line = program.timeline(hardware)
        self._place = {mesh: at for at, mesh in enumerate(self._line.meshes)}
        self._makers = {value: step for step in self._plan.steps for value in step.results}
        self._users: defaultdict[int, list[FragmentCall]] = defaultdict(list)
        for call in self._plan.calls:
            for value in call.operands:
                self._users[value].append(call)
        counters = {call.counter for call in self._plan.calls if call.counter is not None}
        self._first = min(counters, default=None)
        self.microbatches = max(1, len(counters))

    def layers(self) -> tuple[Layer, ...]:
        """Return the layers."""
        return tuple(
            self._layer(name, mesh)
            for name, mesh in zip(self._names, self._line.meshes.values(), strict=True)
        )

    def cuts(self) -> tuple[Cut, ...]:
        """Return the cut before each layer; that before the first layer is empty."""
        # A value that several names use goes over a boundary once.
        seconds: list[dict[tuple[int, bool], float]] = [{} for _ in self._names]
        for span in self._line.transfers:
            transfer = span.step
            assert isinstance(transfer, MeshTransfer), "these are the transfers"
            maker = self._makers.get(transfer.operand)
            if not isinstance(maker, FragmentCall) or maker.counter != self._first:
                continue
            ends = self._place[transfer.source], self._place[transfer.target]
            key = transfer.operand, ends[0] < ends[1]
            taken = self._seconds(transfer)
            for at in range(min(ends) + 1, max(ends) + 1):
                seconds[at][key] = max(seconds[at].get(key, 0.0), taken)
        return tuple(
            Cut(*(sum(time for (_, ahead), time in at.items() if ahead == way) for way in (1, 0)))
            for at in seconds
        )

    def _seconds(self, transfer: MeshTransfer) -> float:
        """Return the seconds of a transfer by the fastest way, with the gathers that it needs."""
        source, target = self._plan.ports[transfer.operand], self._plan.ports[transfer.result]
        whole = TensorSharding.fully_closed(len(source.spec.shape), transfer.source)
        before, after = (each.sharding or whole for each in (source, target))
        users = self._users[transfer.result]
        way = OpenTransfer(
            source.spec.shape,
            source.spec.dtype.itemsize,
            before,
            after.with_mesh(before.mesh_or_ref),
            source.mesh,
            target.mesh,
            users=len(users),
            is_gathered=bool(users) and transfer.result not in self._plan.outputs,
        )
        return ways_of(way, self._hardware)[0][0]

    def _layer(self, name: str, mesh: MeshTimeline) -> Layer:
        forward = backward = once = 0.0
        for span in mesh.intervals:
            call, seconds = span.step, float(span.end - span.start)
            assert isinstance(call, FragmentCall), "meshes run fragments"
            if not call.origins or (call.counter is None and self._first is not None):
                once += seconds
            elif call.counter == self._first:
                backward += seconds if _is_backward(call) else 0.0
                forward += 0.0 if _is_backward(call) else seconds
        homes = self._plan.meshes_of_values
        held = sum(self._nbytes(value) for value in self._plan.inputs if homes[value] == mesh.name)
        live = 0
        for value in self._makers:
            if homes[value] == mesh.name and self._is_of_first(value):
                users = self._users[value]
                if any(each.counter not in (self._first, None) for each in users):
                    held += self._nbytes(value)  # a sum, which the next microbatch adds to
                elif any(map(_is_backward, users)) and not self._is_gradient(value):
                    live += self._nbytes(value)
        return Layer(name, forward, backward, once, held, live, mesh.temporary)

    def _nbytes(self, value: int) -> int:
        return self._plan.ports[value].local_spec.nbytes

    def _maker(self, value: int) -> FragmentCall | None:
        """Return the fragment that computes a value, here or on another mesh."""
        maker = self._makers.get(value)
        if isinstance(maker, MeshTransfer):
            return self._maker(maker.operand)
        return maker

    def _is_of_first(self, value: int) -> bool:
        maker = self._maker(value)
        return maker is not None and maker.counter == self._first

    def _is_gradient(self, value: int) -> bool:
        maker = self._maker(value)
        return maker is not None and _is_backward(maker)


def _is_backward(call: FragmentCall) -> bool:
    return any(each.transpose_count for each in call.origins)


# --- Plans ----------------------------------------------------------------------------------------


def _chain(
    layers: Sequence[Layer],
    cuts: Sequence[Cut],
    pipeline: Pipeline,
    schedule: NamedSchedule | WrittenSchedule,
    memory: int,
    pinned: Mapping[int, int],
) -> Chain:
    """Return the chain of layers under a schedule, which decides the live values of meshes."""
    orders = schedule.orders(pipeline)
    waiting = simulate(orders, pipeline.stages, lambda _: 1)
    live = [waiting.peak_live(mesh) for mesh in range(pipeline.meshes)]

    def seconds(interval: range, _: int) -> float:
        chosen = [layers[at] for at in interval]
        once = sum(each.once for each in chosen) / pipeline.microbatches
        return sum(each.forward + each.backward for each in chosen) + once

    def nbytes(interval: range, mesh: int) -> int:
        chosen = [layers[at] for at in interval]
        return peak_bytes(chosen, live[mesh])

    return Chain(
        [each.name for each in layers],
        [f"m{mesh}" for mesh in range(pipeline.meshes)],
        pipeline.microbatches,
        seconds,
        lambda at: cuts[at].forward + cuts[at].backward,
        nbytes,
        memory,
        pinned,
    )


def peak_bytes(layers: Sequence[Layer], waiting: int) -> int:
    """Return the most bytes of layers on a device.

    While a fragment computes a layer, it has the values of the layers before that wait for their
    backward fragments.

    Args:
        layers: the layers of a mesh.
        waiting: the most microbatches that wait for their backward fragments.
    """
    held = sum(each.held + waiting * each.live for each in layers)
    made = accumulate((each.live for each in layers), initial=0)
    return held + max(each.temporary + live for each, live in zip(layers, made, strict=False))


def _simulated(
    boundaries: Boundaries,
    layers: Sequence[Layer],
    cuts: Sequence[Cut],
    pipeline: Pipeline,
    schedule: NamedSchedule | WrittenSchedule,
) -> float:
    """Return the seconds of a step under a schedule; halves of backward fragments are equal."""
    intervals = boundaries.intervals

    def seconds(unit: SchedulingUnit) -> float:
        chosen = [layers[at] for at in intervals[unit.stage]]
        if unit.is_forward:
            return sum(each.forward for each in chosen)
        return sum(each.backward for each in chosen) / (1 if unit.kind == "B" else 2)

    def transfer(unit: SchedulingUnit, source: int, target: int) -> float:
        over = range(min(source, target) + 1, max(source, target) + 1)
        crossed = [cuts[intervals[mesh].start] for mesh in over]
        return sum(each.forward if unit.is_forward else each.backward for each in crossed)

    run = simulate(schedule.orders(pipeline), pipeline.stages, seconds, transfer)
    once = [sum(layers[at].once for at in interval) for interval in intervals]
    return float(
        max(
            max(run.intervals[unit].end for unit in units) + once[mesh]
            for mesh, units in enumerate(run.orders)
        )
    )
