# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution of MPMD programs by the processes of an MPI job, each of which is a device of a mesh.

1. The processes of a mesh follow those of the mesh before it. A process runs the actions of its
   mesh, and has its own shards only.
2. A process sends all that a transfer brings to another one in a message, and goes on. It waits for
   its oldest messages if too many are on their way. It starts to receive the next messages early.
3. All processes act in one total order, in which a value is made before it is used. So none waits
   forever, even if messages are sent only when they are received: the first transfer or fragment of
   the total order that isn't done is the next one of all processes that take part, and can be done.
4. If a fragment fails, its process sends empty messages from then on, and those who get one do so,
   too; all still receive what others send. At the end, all learn which failure comes first in the
   total order, and raise it. A process whose fragment failed ends the job if that takes too long:
   others may be in a collective with it.
"""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from mlir_sdy.diagnostics import SdyError, UsageError, error
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.sharded_arrays import ShardedArray
from pyshardy.backends.mpi import wrong_number_of_processes
from pyshardy.backends.mpi_library import MpiGroup, MpiRequest, mpi_library
from pyshardy.local_program.tensor_spec import Array
from pyshardy.mpmd.boxes import BoxMessage, Pieces, laid_out, placed, plan_of
from pyshardy.mpmd.execution import Execution, FragmentError, MeshRun, arguments
from pyshardy.mpmd.plan import Action, ExecutionPlan, MeshTransfer
from pyshardy.program import PartitionedProgram

_REPORT = np.dtype([("position", np.int64), ("text", "S4096")])
"""The report of a process at the end: the step of its failure, and the message."""

_NO_FAILURE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Messaging:
    """The limits of messages between processes.

    Attributes:
        most_open: the number of messages on their way from a process at which it waits.
        prefetched: the number of transfers whose messages it expects beside the next one.
        synchronous: whether messages count as sent only when they are received.
        abort_after: the seconds after a failure until its process ends the job.
    """

    most_open: int = 64
    prefetched: int = 2
    synchronous: bool = False
    abort_after: float = 5.0


class RemoteError(FragmentError):
    """A fragment failed in another process, which has the details."""


def execute_on_ranks(
    plan: ExecutionPlan,
    programs: Mapping[str, PartitionedProgram],
    inputs: Sequence[npt.ArrayLike | ShardedArray] | Mapping[str, npt.ArrayLike | ShardedArray],
    text: str,
    options: CompileOptions | None = None,
    *,
    gathers: bool = True,
    messaging: Messaging | None = None,
) -> Execution:
    """Run a program on the processes of an MPI job, all of which must call this.

    Args:
        plan: the steps of the program.
        programs: the programs of its fragments, by name.
        inputs: the arguments: global arrays, or results of an earlier run.
        text: the program, which must be the same on all processes.
        options: the compile options.
        gathers: whether all processes get all shards of the results.
        messaging: the limits of messages.

    Raises:
        UsageError: the inputs don't match the program, the job has another number of processes than
            there are devices, or the processes have different programs.
        FragmentError: a fragment failed; a `RemoteError` if it did so in another process.
    """
    world = mpi_library()
    names, sizes = plan.topology.names, [each.mesh.total_size for each in plan.topology.meshes]
    if world.size != sum(sizes):
        raise wrong_number_of_processes("meshes of the program have", sum(sizes), world.size)
    _check_equal(world, text)
    given = arguments(plan, inputs)
    starts = dict(zip(names, accumulate([0, *sizes]), strict=False))
    mesh = [name for name in names if starts[name] <= world.rank][-1]
    device = world.rank - starts[mesh]
    shared = replace(options or CompileOptions(), instance=world.split(sizes))
    mail = _Messages(plan, world.messages, mesh, starts, messaging or Messaging())
    backends = dict.fromkeys(names, "mpi")
    run = MeshRun(plan, programs, backends, {mesh: shared}, mail, device=device)
    for value, array in given.items():
        if plan.meshes_of_values[value] == mesh:
            port = plan.ports[value]
            if isinstance(array, ShardedArray):
                run.hold(value, laid_out(array.parts[device], port, device))
            else:
                run.hold(value, placed(array, port, device))
    _act(run, mail, mesh)
    outputs: list[ShardedArray] = []
    for value, port in zip(plan.outputs, plan.results, strict=True):
        home = plan.meshes_of_values[value]
        own = run.held[home][value].parts[device] if home == mesh else None
        if gathers:
            empty = np.zeros(port.local_spec.shape, port.spec.dtype) if own is None else own
            ranks = range(starts[home], starts[home] + port.mesh.total_size)
            outputs.append(laid_out([world.broadcast(empty, rank) for rank in ranks], port))
        else:
            outputs.append(laid_out(own, port, None if own is None else device))
    return Execution(outputs, run.peaks)


def _check_equal(world: MpiGroup, text: str) -> None:
    """Check that all processes have one program."""
    own = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8)
    every = world.all_gather(own)
    others = [rank for rank, each in enumerate(every) if not np.array_equal(each, every[0])]
    if others:
        message = f"process {others[0]} has another program than process 0: all must partition"
        raise UsageError(error(f"{message} the same module with the same options"))


def _act(run: MeshRun, mail: _Messages, mesh: str) -> None:
    """Run the actions of a mesh, and exchange failures with the other processes.

    Raises:
        Exception: that of this process, if it is the first in the total order.
        RemoteError: another process has the first failure.
    """
    failure: Exception | None = None
    position = _NO_FAILURE
    for number, own, action in run.plan.in_order:
        if own != mesh:
            continue
        if failure is None:
            try:
                run.do(mesh, action)
                continue
            except _PeerError as refusal:
                failure = refusal
            except Exception as reason:  # raised at the end, when others have heard of it
                failure, position = reason, number
                mail.fail(reason)
        mail.pass_on(action)
    told = failure.diagnostics[0].message if isinstance(failure, SdyError) else str(failure)
    reports = mail.conclude(position, told)
    first = min(range(len(reports)), key=lambda rank: (reports[rank]["position"], rank))
    if reports[first]["position"] == _NO_FAILURE:
        return
    if first == mail.rank and failure is not None:
        raise failure
    raise RemoteError(error(bytes(reports[first]["text"]).decode(errors="ignore")))


class _PeerError(FragmentError):
    """Another process sent an empty message."""


class _Messages:
    """The messages from and to this process; see `Mail`.

    Attributes:
        rank: the number of the process.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        group: MpiGroup,
        mesh: str,
        starts: Mapping[str, int],
        messaging: Messaging,
    ) -> None:
        self.rank = group.rank
        self._plan = plan
        self._group = group
        self._starts = starts
        self._device = group.rank - starts[mesh]
        self._messaging = messaging
        self._num_tags = group.largest_tag + 1
        self._expected = [
            each.step
            for each in plan.actions[mesh]
            if each.kind == "recv" and isinstance(each.step, MeshTransfer)
        ]
        self._places = {each.number: place for place, each in enumerate(self._expected)}
        self._next = 0
        self._arriving: dict[int, list[tuple[list[BoxMessage], MpiRequest]]] = {}
        self._open: deque[MpiRequest] = deque()
        self._failure: Exception | None = None
        self._deadline = math.inf
        self._check_order()

    def _check_order(self) -> None:
        """Check that both ends of a pair of meshes have the transfers in one order.

        Then messages with equal tags, of which there is a limited number, arrive in this order.
        """
        orders: dict[str, dict[tuple[str, str], list[int]]] = {"send": {}, "recv": {}}
        for actions in self._plan.actions.values():
            for each in actions:
                if isinstance(each.step, MeshTransfer) and each.kind in orders:
                    pair = each.step.source, each.step.target
                    orders[each.kind].setdefault(pair, []).append(each.step.number)
        assert orders["send"] == orders["recv"], "both are parts of one total order"

    def _boxes(self, transfer: MeshTransfer, *, sent: bool) -> dict[int, list[BoxMessage]]:
        """Return the boxes of a transfer from or to this process, by the rank of the partner."""
        ports = self._plan.ports
        found: dict[int, list[BoxMessage]] = {}
        for each in plan_of(ports[transfer.operand], ports[transfer.result]):
            own, other = (each.source, each.target)[:: 1 if sent else -1]
            if own == self._device:
                start = self._starts[transfer.target if sent else transfer.source]
                found.setdefault(start + other, []).append(each)
        return found

    def send(self, transfer: MeshTransfer, pieces: Pieces) -> None:
        """See `Mail.send`."""
        elements = dict(zip(*pieces, strict=True))
        for rank, boxes in self._boxes(transfer, sent=True).items():
            packed = b"".join(elements[each].tobytes() for each in boxes)
            self._start(transfer, rank, np.frombuffer(packed, np.uint8))

    def _start(self, transfer: MeshTransfer, rank: int, content: Array) -> None:
        synchronous = self._messaging.synchronous
        tag = transfer.number % self._num_tags
        self._open.append(self._group.send(content, rank, tag, synchronous=synchronous))
        while len(self._open) > self._messaging.most_open:
            self._wait(self._open.popleft())

    def receive(self, transfer: MeshTransfer) -> Pieces:
        """See `Mail.receive`."""
        messages: list[BoxMessage] = []
        elements: list[Array] = []
        dtype = self._plan.ports[transfer.result].spec.dtype
        arrived = self._wait_for(transfer)
        if any(request.nbytes == 0 for _, request in arrived):
            raise _PeerError(error("another process has failed"))
        for boxes, request in arrived:
            content = request.buffer.view(dtype)
            ends = np.cumsum([each.num_elements for each in boxes])[:-1]
            messages += boxes
            elements += [
                part.reshape([stop - start for start, stop in each.box])
                for each, part in zip(boxes, np.split(content, ends), strict=True)
            ]
        return Pieces(tuple(messages), elements)

    def _wait_for(self, transfer: MeshTransfer) -> list[tuple[list[BoxMessage], MpiRequest]]:
        """Wait for the messages of a transfer, and prefetch."""
        last = self._places[transfer.number] + self._messaging.prefetched
        while self._next < len(self._expected) and self._next <= last:
            self._expect(self._expected[self._next])
            self._next += 1
        arrived = self._arriving.pop(transfer.number, [])
        for _, request in arrived:
            self._wait(request)
        return arrived

    def _expect(self, transfer: MeshTransfer) -> None:
        nbytes = self._plan.ports[transfer.result].spec.dtype.itemsize
        tag = transfer.number % self._num_tags
        self._arriving[transfer.number] = [
            (boxes, self._group.receive(nbytes * sum(e.num_elements for e in boxes), rank, tag))
            for rank, boxes in self._boxes(transfer, sent=False).items()
        ]

    def fail(self, failure: Exception) -> None:
        """Note that a fragment of this process failed."""
        self._failure = failure
        self._deadline = time.monotonic() + self._messaging.abort_after

    def pass_on(self, action: Action) -> None:
        """Send empty messages instead of an action that sends, and take those that arrive."""
        if not isinstance(action.step, MeshTransfer):
            return
        if action.kind == "send":
            for rank in self._boxes(action.step, sent=True):
                self._start(action.step, rank, np.empty(0, np.uint8))
        elif action.kind == "recv":
            self._wait_for(action.step)

    def conclude(self, position: int, text: str) -> Array:
        """Wait for all messages, and return the reports of all processes."""
        while self._open:
            self._wait(self._open.popleft())
        report = np.array((position, text.encode()), _REPORT)
        every = self._group.start_all_gather(report)
        self._wait(every)
        return every.buffer

    def _wait(self, request: MpiRequest) -> None:
        """Wait, and leave the processor to other processes meanwhile."""
        while not request.is_done():
            if time.monotonic() > self._deadline:
                print(self._failure, file=sys.stderr, flush=True)
                self._group.abort()
            time.sleep(1e-4)
