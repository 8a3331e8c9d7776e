# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution of MPMD programs in one process: step after step, or with a thread for each mesh.

Both run the same total order, of which a mesh has its part, so both compute equal bits, and no
thread waits forever: the first step of the total order that isn't done can always run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from mlir_sdy.diagnostics import SdyError, UsageError, error, note
from mlir_sdy.suggest import did_you_mean
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.sharded_arrays import ShardedArray
from pyshardy.backends.registry import registered
from pyshardy.local_program.entry import in_order
from pyshardy.local_program.errors import ExecutionError
from pyshardy.mpmd.boxes import Pieces, placed, read, write
from pyshardy.mpmd.plan import Action, ExecutionPlan, FragmentCall, MeshTransfer
from pyshardy.program import PartitionedProgram, fitting

Backends = str | Mapping[str, str]
"""The backend of all meshes, or of each mesh."""

Workers = Literal["serial", "threads"]


class FragmentError(ExecutionError):
    """A fragment failed; the message names its mesh, names and microbatch."""


@dataclass
class Execution:
    """A run of a program.

    Attributes:
        outputs: the results.
        peaks: the most bytes of live values on a device of each mesh.
    """

    outputs: list[ShardedArray] = field(default_factory=list[ShardedArray])
    peaks: dict[str, int] = field(default_factory=dict[str, int])


def execute(
    plan: ExecutionPlan,
    programs: Mapping[str, PartitionedProgram],
    inputs: Sequence[npt.ArrayLike | ShardedArray] | Mapping[str, npt.ArrayLike | ShardedArray],
    backend: Backends = "interpreter",
    options: CompileOptions | None = None,
    *,
    workers: Workers | None = None,
    before: Callable[[str], None] = lambda _: None,
) -> Execution:
    """Run a program; see `MpmdProgram.run`.

    Args:
        plan: the steps of the program.
        programs: the programs of its fragments, by name.
        inputs: the arguments.
        backend: the backends.
        options: the compile options.
        workers: how the meshes run.
        before: called with the mesh before each action.
    """
    backends = _backends(plan, backend)
    given = in_order(inputs, [plan.ports[value].name for value in plan.inputs])
    if len(given) != len(plan.inputs):
        message = f"the program takes {len(plan.inputs)} arrays, but got {len(given)}"
        raise UsageError(error(message))
    if workers is None:
        alone = all(registered(each).name == "interpreter" for each in backends.values())
        workers = "serial" if alone else "threads"
    if workers not in ("serial", "threads"):
        raise UsageError(error(f"no workers '{workers}'; there are 'serial' and 'threads'"))
    shared = options or CompileOptions()
    apart = {
        name: replace(shared, instance=name) if workers == "threads" else shared
        for name in plan.topology.names
    }
    run = _Run(plan, programs, backends, apart, before)
    for value, array in zip(plan.inputs, given, strict=True):
        run.take(value, array)
    (run.serially if workers == "serial" else run.in_threads)()
    outputs = [
        replace(run.held[plan.meshes_of_values[value]][value], name=port.name)
        for value, port in zip(plan.outputs, plan.results, strict=True)
    ]
    return Execution(outputs, run.peaks)


def _backends(plan: ExecutionPlan, backend: Backends) -> dict[str, str]:
    """Return the backend of each mesh."""
    names = plan.topology.names
    if isinstance(backend, str):
        return dict.fromkeys(names, backend)
    for mesh in backend:
        if mesh not in names:
            advice = did_you_mean(mesh, names) or f"; there are {', '.join(names)}"
            raise UsageError(error(f"no mesh '{mesh}' for a backend{advice}"))
    missing = [name for name in names if name not in backend]
    if missing:
        raise UsageError(error(f"'backend' has no backend of {', '.join(missing)}"))
    return dict(backend)


class _Run:
    """The values of a run: those of each mesh, and pieces on their way.

    Attributes:
        held: for each mesh its values.
        peaks: the most bytes of live values on a device of each mesh.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        programs: Mapping[str, PartitionedProgram],
        backends: Mapping[str, str],
        options: Mapping[str, CompileOptions],
        before: Callable[[str], None],
    ) -> None:
        self.plan = plan
        self.programs = programs
        self.backends = backends
        self.options = options
        self.before = before
        self.held: dict[str, dict[int, ShardedArray]] = {name: {} for name in plan.topology.names}
        self.live = dict.fromkeys(plan.topology.names, 0)
        self.peaks = dict.fromkeys(plan.topology.names, 0)
        self.mail: dict[int, Pieces] = {}
        self.failures: list[tuple[int, Exception]] = []
        self.changed = threading.Condition()

    def take(self, value: int, array: npt.ArrayLike | ShardedArray) -> None:
        """Place an argument on its mesh."""
        port = self.plan.ports[value]
        if isinstance(array, ShardedArray):
            if array.is_laid_out_as(port.spec, port.sharding, port.mesh, port.local_spec):
                self._hold(value, array)
                return
            array = array.gather()
        (array,) = fitting([np.asarray(array)], [(port.name, port.spec)])
        self._hold(value, placed(array, port))

    def serially(self) -> None:
        """Run the steps in the total order."""
        for number, step in enumerate(self.plan.steps):
            if isinstance(step, FragmentCall):
                self._do(step.mesh, Action("run", step.unit, step, step.operands))
            elif step.source == step.target:
                self._do(step.source, Action("copy", step.name, step, step.operands))
            else:
                self._do(step.source, Action("send", step.name, step, step.operands))
                self._do(step.target, Action("recv", step.name, step, step.results))
            for value in self.plan.freed_after.get(number, ()):
                self._free(self.plan.meshes_of_values[value], value)

    def in_threads(self) -> None:
        """Run the actions of each mesh in a thread.

        Raises:
            Exception: that of the first step in the total order that failed.
        """
        numbers = {id(step): number for number, step in enumerate(self.plan.steps)}

        def work(mesh: str) -> None:
            position = 0
            for action in self.plan.actions[mesh]:
                position = position if action.step is None else numbers[id(action.step)]
                if self._fails_before(position):
                    return
                try:
                    self._do(mesh, action, position)
                except Exception as failure:  # raised by the thread of the caller
                    with self.changed:
                        self.failures.append((position, failure))
                        self.changed.notify_all()
                    return

        threads = [  # in copies of the context, which has the sink of warnings
            threading.Thread(
                target=copy_context().run, args=(work, mesh), name=f"mesh {mesh}", daemon=True
            )
            for mesh in self.plan.topology.names
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        failures = [each for each in self.failures if not isinstance(each[1], _ClosedError)]
        if failures:
            raise min(failures, key=lambda each: each[0])[1]

    def _fails_before(self, position: int) -> bool:
        """Whether a step has failed that comes first; later ones don't stop a mesh.

        So the first failure of the total order is found, whichever happens first.
        """
        return any(failed < position for failed, _ in self.failures)

    def _do(self, mesh: str, action: Action, position: int = 0) -> None:
        self.before(mesh)
        step = action.step
        match action.kind:
            case "free":
                for value in action.values:
                    self._free(mesh, value)
            case "run":
                assert isinstance(step, FragmentCall), "it runs one"
                self._run(step)
            case "send":
                assert isinstance(step, MeshTransfer), "it sends a value"
                pieces = self._read(step)
                with self.changed:
                    self.mail[step.number] = pieces
                    self.changed.notify_all()
            case "recv":
                assert isinstance(step, MeshTransfer), "it receives a value"
                with self.changed:
                    self.changed.wait_for(
                        lambda: step.number in self.mail or self._fails_before(position)
                    )
                    if step.number not in self.mail:
                        raise _ClosedError(error("another mesh has failed"))
                    pieces = self.mail.pop(step.number)
                self._hold(step.result, write(pieces, self.plan.ports[step.result]))
            case "copy":
                assert isinstance(step, MeshTransfer), "it copies a value"
                target = self.plan.ports[step.result]
                self._hold(step.result, write(self._read(step), target))

    def _read(self, transfer: MeshTransfer) -> Pieces:
        value = self.held[transfer.source][transfer.operand]
        return read(value, self.plan.ports[transfer.result])

    def _run(self, call: FragmentCall) -> None:
        arrays = [self.held[call.mesh][value] for value in call.operands]
        program = self.programs[call.name]
        try:
            results = program.run_sharded(arrays, self.backends[call.mesh], self.options[call.mesh])
        except SdyError as failure:
            raise _failure(call, failure) from failure
        for value, result in zip(call.results, results, strict=True):
            self._hold(value, result)

    def _hold(self, value: int, array: ShardedArray) -> None:
        mesh = self.plan.meshes_of_values[value]
        self.held[mesh][value] = array
        self.live[mesh] += array.local_spec.nbytes
        self.peaks[mesh] = max(self.peaks[mesh], self.live[mesh])

    def _free(self, mesh: str, value: int) -> None:
        self.live[mesh] -= self.held[mesh].pop(value).local_spec.nbytes


class _ClosedError(ExecutionError):
    """A mesh waits for a value of a mesh that has failed."""


def _failure(call: FragmentCall, failure: SdyError) -> FragmentError:
    """Return the error for a fragment that failed."""
    told = [f"fragment {call.name}", f"of mesh {call.mesh}"]
    told += [f"from {call.names}"] if call.names else []
    told += [] if call.stage is None else [f"of stage {call.stage}"]
    told += [] if call.counter is None else [f"in microbatch {call.counter}"]
    first, *others = failure.diagnostics
    notes = [*first.notes, *others]
    if call.location is not None:
        notes.append(note("the fragment is here", call.location))
    message = f"{' '.join(told)} failed: {first.message}"
    return FragmentError(error(message, first.location or call.location, notes))
