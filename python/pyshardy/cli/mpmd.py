# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-mpmd`: partition a program with names for several meshes, run it, and check the results.

    sdy-mpmd program.mlir --schedule=1f1b --backend=jit
    sdy-mpmd program.mlir --topology='m0=data:2;m1=data:2' --assign='layer[01]@m0,layer[23]@m1'
    mpiexec -n 8 sdy-mpmd program.mlir --backend=mpi
    sdy-mpmd program.mlir --plan --hardware=h100 --html=timeline.html
    sdy-mpmd pipeline.py:module_of --schedules=gpipe,1f1b --microbatches=4,8 --hardware=h100

Exit status: 0 when the results agree, else 1.
"""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from mlir_sdy.diagnostics import SdyError, UsageError, error, redirect
from pyshardy.backends import CompileOptions, backend_names
from pyshardy.cli.flags import HARDWARE_FORM, GuardFlags, argument, flag
from pyshardy.cli.output import activity, is_later_rank, write_report
from pyshardy.cli.tool import Parser, Tool, entry_point

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mlir_sdy.host import ir
    from pyshardy.cli.tables import Printer
    from pyshardy.local_program.tensor_spec import Array
    from pyshardy.mpmd.execution import Workers
    from pyshardy.mpmd.program import MpmdProgram


@dataclass(frozen=True, kw_only=True)
class MpmdFlags(GuardFlags):
    """The flags of sdy-mpmd."""

    file: str = argument("input file; - for standard input")
    topology: str | None = flag(
        None,
        "meshes in the order of the pipeline, if the program has none",
        "NAME=AXIS:SIZE,...;...",
    )
    assign: str = flag("", "meshes of names, if the program has none", "NAME@MESH[/STAGE],...")
    schedule: str = flag(
        "1f1b",
        "order of the fragments: a name, or 'm0: F0 B0; m1: F0 B0' (default: %(default)s)",
        "S",
    )
    transfers: str = flag(
        "auto",
        "how values go to meshes that need another sharding: as they are, between equal meshes "
        "with equal shardings, or by the way of least estimated time (default: %(default)s)",
        choices=("auto", "direct", "same-sharding"),
    )
    hardware: str = flag(
        "default",
        "hardware of the plan: a preset or a TOML file (default: %(default)s)",
        HARDWARE_FORM,
    )
    backend: str = flag(
        "interpreter",
        "backend that runs the fragments (default: %(default)s)",
        choices=backend_names(),
    )
    workers: str | None = flag(
        None,
        "one fragment at a time, or a thread for each mesh (default: threads, but serial for the "
        "interpreter)",
        choices=("serial", "threads"),
    )
    seed: int = flag(0, "seed of the random inputs (default: 0)", "N")
    inputs: str | None = flag(None, "read the inputs from this .npz file", "FILE")
    tolerance: float | None = flag(
        None, "largest relative difference (default: that of the least precise element type)", "T"
    )
    no_check: bool = flag(False, "do not run the unpartitioned program")
    plan: bool = flag(False, "do not run; print the timeline on the hardware")
    schedules: str | None = flag(
        None, "do not run; compare the timelines of these schedules", "S,S,..."
    )
    microbatches: str = flag(
        "",
        "compare these numbers of microbatches; the file is then FILE.py:FUNCTION, a function of "
        "the number that returns the program",
        "M,M,...",
    )
    html: str = flag("", "write a page with the timeline and the reports of fragments", "FILE")
    json: str = flag("", "write the timeline as JSON", "FILE")
    trace: str = flag("", "write the timeline for Chrome's trace viewer", "FILE")
    advise: bool = flag(False, "as --plan; try other meshes for names of the slowest mesh")
    print_orders: bool = flag(False, "print the order of each mesh, and the transfers")
    emit: str | None = flag(
        None,
        "do not run; print the exported module, the actions of each mesh, or the local program of "
        "each fragment",
        choices=("mpmd", "actions", "fragments"),
    )


parser = partial(
    Parser[MpmdFlags],
    "sdy-mpmd",
    "Partitions a program with names into fragments on several meshes, runs it on simulated "
    "devices with random inputs, and compares the results with those of the unpartitioned program.",
    MpmdFlags,
)
"""Makes the parser of the command line."""


def _run(arguments: MpmdFlags, tool: Tool) -> int:
    tool.start(arguments, arguments.file.partition(".py:")[0])
    if arguments.backend != "mpi":
        return _work(arguments, tool)
    from pyshardy.mpmd.execution import FragmentError  # noqa: PLC0415 (loads the MLIR host)
    from pyshardy.mpmd.ranks import RemoteError  # noqa: PLC0415

    try:  # One of all processes prints each diagnostic.
        with redirect(lambda _: None) if is_later_rank() else nullcontext():
            return _work(arguments, tool)
    except RemoteError:
        return 1
    except SdyError as failure:
        if is_later_rank() and not isinstance(failure, FragmentError):
            return 1
        raise


def _work(arguments: MpmdFlags, tool: Tool) -> int:
    # All of these load the MLIR host or are slow to load; --help and bad usage do without.
    from pyshardy.cli.reading import read_program, shown_name  # noqa: PLC0415
    from pyshardy.cli.tables import Printer as TablePrinter  # noqa: PLC0415

    printer = TablePrinter(quiet=arguments.backend == "mpi" and is_later_rank())
    if arguments.microbatches:
        return _compare_microbatches(arguments, printer)
    if arguments.file.partition(":")[0].endswith(".py"):
        message = f"'{arguments.file}' is Python: a function needs '--microbatches', as in '4,8'"
        raise UsageError(error(message))
    module = read_program(arguments.file, tool, several_meshes=True)
    if arguments.schedules is not None:
        return _compare_schedules(module, None, arguments, printer)
    program = _partitioned(module, arguments, arguments.schedule)
    if arguments.emit:
        _emit(program, arguments.emit)
        return 0
    printer.line(f"{shown_name(arguments.file)}: {program.summary()}")
    if arguments.print_orders:
        printer.tables(program.tables())
    if any((arguments.plan, arguments.advise, arguments.html, arguments.json, arguments.trace)):
        timeline = program.timeline(arguments.hardware)
        printer.tables(timeline.tables())
        advice = _advice(module, arguments) if arguments.advise else []
        for each in advice:
            printer.line(each)
        for path, text in (
            (arguments.html, partial(program.to_html, hardware=arguments.hardware, advice=advice)),
            (arguments.json, timeline.to_json),
            (arguments.trace, timeline.to_chrome_trace),
        ):
            if path:
                write_report(path, text())
        return 0
    return _execute(module, program, arguments, printer)


def _partitioned(module: ir.Module, arguments: MpmdFlags, schedule: str) -> MpmdProgram:
    from pyshardy.mpmd.partitioning import partition  # noqa: PLC0415

    with activity("partitioning"):
        return partition(
            module, schedule=schedule, hardware=arguments.hardware, **_meshes(arguments)
        )


def _advice(module: ir.Module, arguments: MpmdFlags) -> list[str]:
    from pyshardy.mpmd.comparing import advise  # noqa: PLC0415

    with activity("trying other meshes"):
        return advise(
            module,
            schedule=arguments.schedule,
            hardware=arguments.hardware,
            **_meshes(arguments),
        )


def _meshes(arguments: MpmdFlags) -> dict[str, Any]:
    """Return the options of `partition` for the meshes and what goes between them."""
    return {
        "topology": _topology(arguments.topology),
        "assignment": _assignment(arguments.assign) if arguments.assign else None,
        "transfers": arguments.transfers,
    }


def _topology(text: str | None) -> dict[str, dict[str, int]] | None:
    """Return the meshes of `m0=data:2,model:2;m1=data:4`."""
    from pyshardy.cli.mesh_flag import read_mesh  # noqa: PLC0415 (loads the MLIR host)

    if text is None:
        return None
    found: dict[str, dict[str, int]] = {}
    for part in text.split(";"):
        name, mesh = read_mesh(part, "--topology")
        if name is None or name in found:
            message = f"'--topology={text}': expected different names, as in 'm0=data:2;m1=data:2'"
            raise UsageError(error(message))
        found[name] = {axis.name: axis.size for axis in mesh.axes}
    return found


def _assignment(text: str) -> dict[str, str]:
    """Return the meshes of `layer[01]@m0,layer2@m1/1`."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, at, mesh = part.strip().partition("@")
        if not (name and at and mesh):
            raise UsageError(error(f"'--assign={text}': expected 'name@mesh', got '{part}'"))
        found[name] = mesh
    return found


def _emit(program: MpmdProgram, kind: str) -> None:
    from mlir_sdy.assembly import asm  # noqa: PLC0415

    if kind == "mpmd":
        print(asm(program.module))
    elif kind == "actions":
        for mesh, actions in program.actions.items():
            print(f"{mesh}:")
            for each in actions:
                print(f"  {each}")
    else:
        for name, each in program.fragments.items():
            print(f"// {name}")
            print(asm(each.program.module))


def _compare_microbatches(arguments: MpmdFlags, printer: Printer) -> int:
    """Print a table of schedules for several numbers of microbatches.

    Raises:
        UsageError: the numbers are malformed, or the function of the user is missing or fails.
    """
    from pyshardy.cli.run_files import load_function  # noqa: PLC0415
    from pyshardy.irtools.user_files import raised_at  # noqa: PLC0415

    texts = arguments.microbatches.split(",")
    if not all(each.strip().isdecimal() and int(each) for each in texts):
        message = f"'--microbatches={arguments.microbatches}': expected numbers, as in '4,8'"
        raise UsageError(error(message))
    function = load_function(arguments.file, "--microbatches")

    def module(number: int) -> ir.Module:
        try:
            return function(number)
        except SdyError:
            raise
        except Exception as failure:
            what = f"{type(failure).__name__}: {failure}".rstrip(": ")
            message = f"'{arguments.file}' failed for {number} microbatches: {what}"
            raise UsageError(error(message, None, raised_at(failure))) from failure

    return _compare_schedules(module, list(map(int, texts)), arguments, printer)


def _compare_schedules(
    module: ir.Module | Callable[[int], ir.Module],
    microbatches: Sequence[int] | None,
    arguments: MpmdFlags,
    printer: Printer,
) -> int:
    """Print a table of schedules, the fastest one first."""
    from pyshardy.mpmd.comparing import compare  # noqa: PLC0415

    schedules = arguments.schedule if arguments.schedules is None else arguments.schedules
    with activity("comparing schedules"):
        found = compare(
            module,
            schedules=_schedules(schedules),
            microbatches=microbatches,
            hardware=arguments.hardware,
            **_meshes(arguments),
        )
    printer.tables(found.tables())
    if arguments.html:
        write_report(arguments.html, found.to_html(reports=True))
    return 0


def _schedules(text: str) -> list[str]:
    """Return the schedules of `1f1b,zb-h2{latency=1}`; commas in braces separate options."""
    return [each.strip() for each in re.split(r",(?![^{]*\})", text)]


def _execute(
    module: ir.Module, program: MpmdProgram, arguments: MpmdFlags, printer: Printer
) -> int:
    """Run the program, print the comparison, and return the exit status."""
    from pyshardy.backends.arrays.comparison import (  # noqa: PLC0415
        Verdict,
        overall,
        random_inputs,
    )
    from pyshardy.cli.run_files import load_inputs  # noqa: PLC0415
    from pyshardy.cli.run_report import differences_of, print_outputs  # noqa: PLC0415
    from pyshardy.mpmd.reference import without_names  # noqa: PLC0415
    from pyshardy.program import compile_unpartitioned  # noqa: PLC0415

    # To optimize a program takes the JIT longer than to run it once without: minutes, often.
    ports, options = program.inputs, CompileOptions(optimization=0)
    inputs = (
        load_inputs(arguments.inputs, ports)
        if arguments.inputs
        else random_inputs([port.spec for port in ports], arguments.seed)
    )
    # A job has no terminal, and its processes take turns on few processors.
    tells = arguments.backend == "mpi" and not is_later_rank()
    if tells:
        print(f"compiling and running {len(program.fragments)} programs ...", file=sys.stderr)
    with activity("running"):
        workers = cast("Workers | None", arguments.workers)
        outputs = program.run(inputs, arguments.backend, options, workers=workers)
    if arguments.no_check:
        print_outputs(printer, program.outputs)
        return 0
    original = without_names(module)
    if tells:
        told = "compiling and running the unpartitioned program; --no-check leaves this out ..."
        print(told, file=sys.stderr)
    with activity("running the unpartitioned program"):
        run = compile_unpartitioned(original, arguments.backend, options)
        expected: Sequence[Array] = run(inputs)
    differences = differences_of(
        run, inputs, outputs, expected, original, program.outputs, arguments.tolerance
    )
    print_outputs(printer, program.outputs, differences)
    return 0 if overall(differences) is Verdict.OK else 1


main = entry_point("sdy-mpmd", parser, _run)
"""Runs the tool; see `entry_point`."""


if __name__ == "__main__":
    sys.exit(main())
