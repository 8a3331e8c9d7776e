# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partitioned MPMD programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy.typing as npt

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.sharded_arrays import ShardedArray
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, load_hardware, report_hardware_of
from pyshardy.display import Displayed, Table, counted
from pyshardy.local_program.tensor_spec import Array
from pyshardy.mpmd.boxes import plan_of
from pyshardy.mpmd.boxes import transfer_seconds as seconds_of
from pyshardy.mpmd.execution import Backends, Workers, backends_of_meshes, execute
from pyshardy.mpmd.explaining import (
    FragmentExplanation,
    TransferExplanation,
    explain,
    fragment_page,
)
from pyshardy.mpmd.page import PipelineChart, pipeline_page
from pyshardy.mpmd.plan import Action, ExecutionPlan, FragmentCall, MeshTransfer
from pyshardy.mpmd.ranks import execute_on_ranks
from pyshardy.mpmd.timeline import MpmdTimeline, Time, run_timeline
from pyshardy.pipeline.collection import collection_paused
from pyshardy.program import PartitionedProgram
from pyshardy.program_interface import Port


@dataclass(frozen=True, slots=True)
class FragmentFunction:
    """The function of fragments.

    Attributes:
        name: its name in the exported module.
        program: it, partitioned; equal fragments have the same one.
    """

    name: str
    program: PartitionedProgram


@dataclass(frozen=True, repr=False)
class MpmdProgram(Displayed):
    """A program of fragments on meshes.

    Attributes:
        module: the exported module.
        plan: its fragments and transfers in their total order.
        fragments: the functions of fragments by name.
        schedule: the schedule.
    """

    module: ir.Module
    plan: ExecutionPlan
    fragments: Mapping[str, FragmentFunction]
    schedule: str

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The arguments."""
        return tuple(self.plan.ports[value] for value in self.plan.inputs)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The results."""
        return self.plan.results

    @property
    def transfers(self) -> list[MeshTransfer]:
        """The transfers, in the total order."""
        return self.plan.transfers

    @property
    def actions(self) -> dict[str, list[Action]]:
        """The actions of each mesh."""
        return self.plan.actions

    @property
    def orders(self) -> dict[str, str]:
        """The units of meshes, and the fragments besides, in the total order."""
        return {
            name: " ".join(
                call.unit if " " not in call.unit else f"({call.unit})"
                for call in self.plan.calls
                if call.mesh == name
            )
            for name in self.plan.topology.names
        }

    @property
    def programs(self) -> list[PartitionedProgram]:
        """The different programs of fragments."""
        return list({id(each.program): each.program for each in self.fragments.values()}.values())

    def bytes_of(self, transfer: MeshTransfer) -> int:
        """Return the bytes of a transfer."""
        source, target = self.plan.ports[transfer.operand], self.plan.ports[transfer.result]
        elements = sum(each.num_elements for each in plan_of(source, target))
        return elements * _element_bytes(source)

    def summary(self) -> str:
        """Return the numbers of meshes, fragments, programs, and bytes sent in one line."""
        sent = sum(self.bytes_of(each) for each in self.transfers if each.source != each.target)
        meshes, calls = len(self.plan.topology.meshes), self.plan.calls
        return (
            f"{meshes} mesh{'es' if meshes > 1 else ''}, {counted(len(calls), 'fragment')} of "
            f"{counted(len(self.programs), 'program')}, "
            f"{counted(len(self.transfers), 'transfer')} of {counted(sent, 'byte')}"
        )

    def tables(self) -> list[Table]:
        """Return tables of the order of each mesh, and of the transfers."""
        return [
            Table(
                f"Schedule {self.schedule}",
                ("mesh", "devices", "order"),
                [
                    (each.name, str(each.mesh), self.orders[each.name])
                    for each in self.plan.topology.meshes
                ],
            ),
            Table(
                "Transfers",
                ("transfer", "from", "to", "value", "way", "bytes"),
                [
                    (
                        each.number,
                        each.source,
                        each.target,
                        str(self.plan.ports[each.operand].spec),
                        each.way,
                        f"{self.bytes_of(each):,}",
                    )
                    for each in self.transfers
                ],
                num_numeric=1,
            ),
        ]

    def timeline(
        self,
        hardware: Hardware | str,
        *,
        seconds: Callable[[FragmentCall], Time] | None = None,
        transfer_seconds: Callable[[MeshTransfer], Time] | None = None,
    ) -> MpmdTimeline:
        """Return what runs when on each mesh, in estimated time, with idle time and memory.

            print(program.timeline("h100"))

        Args:
            hardware: the devices and links.
            seconds: the time of a fragment, instead of that estimated for the hardware.
            transfer_seconds: the time of a transfer, likewise.

        Raises:
            UsageError: there is no such hardware.
        """
        model = hardware if isinstance(hardware, Hardware) else load_hardware(hardware)
        link = model.link_between_meshes
        programs = {name: each.program for name, each in self.fragments.items()}
        with collection_paused():
            runs = {id(each): each.timeline(model) for each in self.programs}
        temporary = {
            name: runs[id(each.program)].peak_bytes
            - sum(port.local_spec.nbytes for port in each.program.inputs)
            for name, each in self.fragments.items()
        }

        def sending(transfer: MeshTransfer) -> float:
            source, target = self.plan.ports[transfer.operand], self.plan.ports[transfer.result]
            if transfer.source == transfer.target:
                return 0.0
            return seconds_of(plan_of(source, target), _element_bytes(source), link)

        line = run_timeline(
            self.plan,
            seconds or (lambda call: runs[id(programs[call.name])].seconds),
            lambda call: temporary[call.name],
            self.bytes_of,
            transfer_seconds or sending,
        )
        notes = {name: each.summary() for name, each in programs.items()}
        return replace(line, memory_limit=int(model.bytes_of_memory), notes=notes)

    def to_html(self, *, hardware: Hardware | str | None = None, advice: Sequence[str] = ()) -> str:
        """Return a page with the timeline, on which a click on a fragment opens its report.

        Args:
            hardware: as for `explain`.
            advice: sentences for the page, such as those of `sdy.mpmd.advise`.

        Raises:
            UsageError: there is no such hardware.
        """
        return pipeline_page([self.chart(self._report_hardware(hardware))], advice)

    def chart(self, hardware: Hardware, title: str = "") -> PipelineChart:
        """Return the chart of a page, with the reports of fragments."""
        pages = {id(each): fragment_page(each, hardware) for each in self.programs}
        reports = {name: pages[id(each.program)] for name, each in self.fragments.items()}
        chart = self.timeline(hardware).chart(title or self.schedule)
        return chart._replace(reports=reports)

    def _report_hardware(self, hardware: Hardware | str | None) -> Hardware:
        first = self.programs[0].origin
        given = first.options.get("hardware", DEFAULT_HARDWARE) if first else DEFAULT_HARDWARE
        return report_hardware_of(str(given), hardware)

    def explain(
        self, what: str, *, hardware: Hardware | str | None = None
    ) -> TransferExplanation | FragmentExplanation:
        """Explain a transfer, or a fragment with its program.

            print(program.explain("transfer 3"))
            print(program.explain("m1 F0"))

        Args:
            what: the name of a transfer, `transfer 3`; the function of a fragment; or the mesh and
                the unit of one, `m1 F0`.
            hardware: the hardware of the estimate; by default that for which fragments are
                partitioned, or an H100 if this is the default.

        Raises:
            UsageError: the program has no such transfer or fragment.
        """
        model = self._report_hardware(hardware)
        programs = {name: each.program for name, each in self.fragments.items()}
        return explain(self.module, self.plan, programs, what, self.timeline(model), model)

    def run(
        self,
        inputs: Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike],
        backend: Backends = "interpreter",
        options: CompileOptions | None = None,
        *,
        workers: Workers | None = None,
    ) -> list[Array]:
        """Run the program on simulated devices of all meshes.

        Args:
            inputs: the global arrays of the arguments, in order or by name.
            backend: the name of a backend, or a dictionary with that of each mesh. `mpi` is for the
                processes of an MPI job, as many as all meshes have devices: all call this, with
                equal inputs, and get the results.
            options: the compile options.
            workers: `serial` for one fragment or transfer at a time, in the total order; `threads`
                for a thread for each mesh. Both compute equal bits. By default, `serial` for the
                interpreter, else `threads`.

        Returns:
            The global arrays of the results.

        Raises:
            UsageError: the inputs don't match the program, or there is no such backend or mesh.
            FragmentError: a fragment failed.
        """
        found = self._execute(inputs, backend, options, workers, gathers=True)
        return [array.gather() for array in found]

    def run_sharded(
        self,
        inputs: Sequence[npt.ArrayLike | ShardedArray] | Mapping[str, npt.ArrayLike | ShardedArray],
        backend: Backends = "interpreter",
        options: CompileOptions | None = None,
        *,
        workers: Workers | None = None,
    ) -> list[ShardedArray]:
        """Run the program, and keep the results on the devices; see `run`.

        In an MPI job, a process has its own shards of the results only.
        """
        return self._execute(inputs, backend, options, workers, gathers=False)

    def _execute(
        self,
        inputs: Sequence[npt.ArrayLike | ShardedArray] | Mapping[str, npt.ArrayLike | ShardedArray],
        backend: Backends,
        options: CompileOptions | None,
        workers: Workers | None,
        *,
        gathers: bool,
    ) -> list[ShardedArray]:
        programs = {name: each.program for name, each in self.fragments.items()}
        backends = backends_of_meshes(self.plan, backend)
        if "mpi" not in backends.values():
            return execute(self.plan, programs, inputs, backends, options, workers=workers).outputs
        if set(backends.values()) != {"mpi"} or workers is not None:
            message = "the backend 'mpi' runs all meshes, each device in a process: leave out"
            raise UsageError(error(f"{message} 'workers' and other backends"))
        text = self.module.operation.get_asm(assume_verified=True)
        return execute_on_ranks(self.plan, programs, inputs, text, options, gathers=gathers).outputs


def _element_bytes(port: Port) -> int:
    """Return the bytes of an element, rounded up; NumPy may hold it in a larger type."""
    return -(-port.spec.nbytes // max(1, port.spec.size))


__all__ = ["FragmentCall", "FragmentFunction", "MeshTransfer", "MpmdProgram"]
