# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution of MPMD programs in one process: step after step, or with a thread for each mesh.

Both run the same total order, of which a mesh has its part, so both compute equal bits, and no
thread waits forever: the first step of the total order that isn't done can always run. `ranks` runs
it in the processes of an MPI job.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, cast

import numpy as np
import numpy.typing as npt

from mlir_sdy.diagnostics import SdyError, UsageError, error, note
from mlir_sdy.suggest import did_you_mean
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.sharded_arrays import OwnPart, ShardedArray
from pyshardy.backends.registry import registered
from pyshardy.display import check_number_of_arrays
from pyshardy.local_program.entry import in_order
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import Array
from pyshardy.mpmd.boxes import Pieces, placed, plan_of, read, write
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
    backends = backends_of_meshes(plan, backend)
    given = arguments(plan, inputs)
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
    mail = _Mailbox(plan)
    run = MeshRun(plan, programs, backends, apart, mail, before)
    for value, array in given.items():
        run.hold(
            value, array if isinstance(array, ShardedArray) else placed(array, plan.ports[value])
        )
    if workers == "threads":
        _in_threads(run, mail)
    else:
        for _, mesh, action in plan.in_order:
            run.do(mesh, action)
    outputs = [
        replace(run.held[plan.meshes_of_values[value]][value], name=port.name)
        for value, port in zip(plan.outputs, plan.results, strict=True)
    ]
    return Execution(outputs, run.peaks)


def arguments(
    plan: ExecutionPlan,
    inputs: Sequence[npt.ArrayLike | ShardedArray] | Mapping[str, npt.ArrayLike | ShardedArray],
) -> dict[int, Array | ShardedArray]:
    """Return the arguments by their values: arrays with the layout of the value, or global ones."""
    names = [plan.ports[value].name for value in plan.inputs]
    given = in_order(inputs, names, "mpmd.MpmdProgram.run")
    check_number_of_arrays(len(given), names)
    found: dict[int, Array | ShardedArray] = {}
    for value, array in zip(plan.inputs, given, strict=True):
        port = plan.ports[value]
        layout = port.spec, port.sharding, port.mesh, port.local_spec
        if isinstance(array, ShardedArray) and array.is_laid_out_as(*layout):
            found[value] = array
        elif isinstance(array, ShardedArray) and isinstance(array.parts, OwnPart):
            message = f"{port.name} is in several processes, laid out as {array.summary()}, but"
            raise UsageError(error(f"{message} should be as {port.sharding} on {port.mesh}"))
        else:
            whole = array.gather() if isinstance(array, ShardedArray) else np.asarray(array)
            (found[value],) = fitting([whole], [(port.name, port.spec)])
    return found


def backends_of_meshes(plan: ExecutionPlan, backend: Backends) -> dict[str, str]:
    """Return the backend of each mesh."""
    names = plan.topology.names
    if isinstance(backend, str):
        return dict.fromkeys(names, backend)
    if not isinstance(cast("object", backend), Mapping):
        message = (
            f"'backend' is a name, such as 'jit', or a dictionary with that of each mesh, got: "
            f"{type(backend).__name__}; inputs are one list, in order"
        )
        raise UsageError(error(message))
    for mesh in backend:
        if mesh not in names:
            advice = did_you_mean(mesh, names) or f"; there are {', '.join(names)}"
            raise UsageError(error(f"no mesh '{mesh}' for a backend{advice}"))
    missing = [name for name in names if name not in backend]
    if missing:
        raise UsageError(error(f"'backend' has no backend of {', '.join(missing)}"))
    return dict(backend)


class Mail(Protocol):
    """Values on their way between meshes."""

    def send(self, transfer: MeshTransfer, pieces: Pieces) -> None:
        """Send the pieces of a value, which is freed afterwards."""
        ...

    def receive(self, transfer: MeshTransfer) -> Pieces:
        """Wait for the pieces of a value."""
        ...


class MeshRun:
    """A run of a program: its values on all meshes, or on a device of one.

    Attributes:
        plan: the steps of the program.
        device: the device; None for all.
        held: for each mesh its values.
        peaks: the most bytes of live values on a device of each mesh.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        programs: Mapping[str, PartitionedProgram],
        backends: Mapping[str, str],
        options: Mapping[str, CompileOptions],
        mail: Mail,
        before: Callable[[str], None] = lambda _: None,
        device: int | None = None,
    ) -> None:
        self.plan = plan
        self.device = device
        self.held: dict[str, dict[int, ShardedArray]] = {name: {} for name in plan.topology.names}
        self.peaks = dict.fromkeys(plan.topology.names, 0)
        self._programs = programs
        self._backends = backends
        self._options = options
        self._mail = mail
        self._before = before
        self._live = dict.fromkeys(plan.topology.names, 0)

    def do(self, mesh: str, action: Action) -> None:
        """Do an action of a mesh."""
        self._before(mesh)
        step = action.step
        match action.kind:
            case "free":
                for value in action.values:
                    self._live[mesh] -= self.held[mesh].pop(value).local_spec.nbytes
            case "run":
                assert isinstance(step, FragmentCall), "it runs one"
                self._run(step)
            case "send":
                assert isinstance(step, MeshTransfer), "it sends a value"
                self._mail.send(step, self._read(step))
            case "recv":
                assert isinstance(step, MeshTransfer), "it receives a value"
                pieces = self._mail.receive(step)
                self.hold(step.result, write(pieces, self.plan.ports[step.result], self.device))
            case "copy":
                assert isinstance(step, MeshTransfer), "it copies a value"
                pieces, target = self._read(step), self.plan.ports[step.result]
                self.hold(step.result, write(pieces, target, self.device))

    def hold(self, value: int, array: ShardedArray) -> None:
        """Keep a value on its mesh."""
        mesh = self.plan.meshes_of_values[value]
        self.held[mesh][value] = array
        self._live[mesh] += array.local_spec.nbytes
        self.peaks[mesh] = max(self.peaks[mesh], self._live[mesh])

    def _read(self, transfer: MeshTransfer) -> Pieces:
        value = self.held[transfer.source][transfer.operand]
        messages = plan_of(self.plan.ports[transfer.operand], self.plan.ports[transfer.result])
        own = [each for each in messages if self.device in (None, each.source)]
        return read(value, own)

    def _run(self, call: FragmentCall) -> None:
        arrays = [self.held[call.mesh][value] for value in call.operands]
        program = self._programs[call.name]
        try:
            results = program.run_sharded(
                arrays, self._backends[call.mesh], self._options[call.mesh]
            )
        except SdyError as failure:
            raise _failure(call, failure) from failure
        for value, result in zip(call.results, results, strict=True):
            self.hold(value, result)


class _Mailbox:
    """Pieces on their way between the meshes of a process; see `Mail`.

    Attributes:
        failures: the steps that failed, by their positions in the total order.
    """

    def __init__(self, plan: ExecutionPlan) -> None:
        self.failures: list[tuple[int, Exception]] = []
        self._positions = {
            step.number: position
            for position, step in enumerate(plan.steps)
            if isinstance(step, MeshTransfer)
        }
        self._pieces: dict[int, Pieces] = {}
        self._changed = threading.Condition()

    def send(self, transfer: MeshTransfer, pieces: Pieces) -> None:
        """See `Mail.send`."""
        with self._changed:
            self._pieces[transfer.number] = pieces
            self._changed.notify_all()

    def receive(self, transfer: MeshTransfer) -> Pieces:
        """See `Mail.receive`."""
        number, position = transfer.number, self._positions[transfer.number]
        with self._changed:
            self._changed.wait_for(lambda: number in self._pieces or self.fails_before(position))
            if number not in self._pieces:
                raise _ClosedError(error("another mesh has failed"))
            return self._pieces.pop(number)

    def fail(self, position: int, failure: Exception) -> None:
        """Note that a step has failed."""
        with self._changed:
            self.failures.append((position, failure))
            self._changed.notify_all()

    def fails_before(self, position: int) -> bool:
        """Whether a step has failed that comes first; later ones don't stop a mesh.

        So the first failure of the total order is found, whichever happens first.
        """
        return any(failed < position for failed, _ in self.failures)


def _in_threads(run: MeshRun, mail: _Mailbox) -> None:
    """Run the actions of each mesh in a thread.

    Raises:
        Exception: that of the first step in the total order that failed.
    """

    def work(own: str) -> None:
        for position, mesh, action in run.plan.in_order:
            if mesh != own:
                continue
            if mail.fails_before(position):
                return
            try:
                run.do(mesh, action)
            except Exception as failure:  # raised by the thread of the caller
                mail.fail(position, failure)
                return

    threads = [  # in copies of the context, which has the sink of warnings
        threading.Thread(
            target=copy_context().run, args=(work, mesh), name=f"mesh {mesh}", daemon=True
        )
        for mesh in run.plan.topology.names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failures = [each for each in mail.failures if not isinstance(each[1], _ClosedError)]
    if failures:
        raise min(failures, key=lambda each: each[0])[1]


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
