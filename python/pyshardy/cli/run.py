# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-run`: propagate, partition and run a program, and check the results.

    sdy-run program.mlir
    sdy-run program.mlir --mesh=data:2,model:4 --backend=jit --inputs=in.npz --outputs=out.npz
    sdy-run program.mlir --emit=vmfb -o program.vmfb

The partitioned program runs with random inputs on simulated devices, one for each device of the
mesh. Its results are compared with those of the unpartitioned program.

Exit status: 0 when the results agree, else 1.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from mlir_sdy.diagnostics import UsageError, emit, error, warning
from pyshardy.backends import CompileOptions, backend_names
from pyshardy.backends.registry import registered
from pyshardy.cli.flags import (
    HARDWARE_FORM,
    GuardFlags,
    MeshFlag,
    OverlapFlag,
    RuleFlags,
    ScheduleFlag,
    SizeFlag,
    argument,
    flag,
)
from pyshardy.cli.output import activity, is_later_rank, refuse_binary_on_terminal
from pyshardy.cli.tool import Parser, Tool, entry_point

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlir_sdy.host import ir
    from pyshardy.cli.run_report import Profile, RunReport
    from pyshardy.dynamic.guards import Uneven
    from pyshardy.local_program.tensor_spec import Array
    from pyshardy.pipelines.partition import Overlap, PartitionOptions
    from pyshardy.program import PartitionedProgram
    from pyshardy.program_interface import Port

_PROPAGATION = "sdy-propagation-pipeline"

SAME = "the same"
"""The value of `--compare` that selects the backend of the program."""


@dataclass(frozen=True, kw_only=True)
class RunFlags(MeshFlag, SizeFlag, ScheduleFlag, OverlapFlag, RuleFlags, GuardFlags):
    """The flags of sdy-run."""

    file: str = argument("input file; - for standard input")
    hint: tuple[str, ...] = flag(
        (), "the value of a dynamic size for which shardings are found; may be repeated", "NAME=N"
    )
    buckets: tuple[str, ...] = flag(
        (),
        "the values of a dynamic size for which the program is partitioned, and which run smaller "
        "ones: b=4,16,64, b=4,16,... for more, b=pow2, or b=*8 for multiples; may be repeated",
        "NAME=N,N",
    )
    uneven: str | None = flag(
        None,
        "what is done at dynamic sizes that shards don't divide: pad arguments and results, leave "
        "them unsharded, or fail (default: pad those that the program shards)",
        choices=("pad", "unshard", "guard"),
    )
    seed: int = flag(0, "seed of the random inputs (default: 0)", "N")
    tolerance: float | None = flag(
        None,
        "largest difference of floating-point results, relative to the largest absolute value "
        "of the result; 0 for equal values (default: that of the least precise element type, "
        "1e-5 for f32, or more where rounding alone gives more)",
        "T",
    )
    backend: str = flag(
        "interpreter",
        f"backend that runs the program: {', '.join(backend_names())} (default: %(default)s)",
        "NAME",
        choices=backend_names(),
    )
    hardware: str = flag(
        "default",
        "hardware that the program is partitioned for: a preset or a TOML file "
        "(default: %(default)s)",
        HARDWARE_FORM,
    )
    inputs: str | None = flag(
        None,
        "read the inputs from this .npz file, by name or position; an .npy file has one",
        "FILE",
    )
    outputs: str | None = flag(None, "write the outputs to this .npz file", "FILE")
    compare: str | None = flag(
        None,
        "backend that runs the unpartitioned program for the comparison (default: the backend "
        "of the program)",
        "NAME",
        choices=(SAME, *backend_names()),
        alone=SAME,
    )
    profile: int | None = flag(
        None,
        "report the time of each stage; run N more times and report the fastest (default: 5)",
        "N",
        alone=5,
        least=1,
    )
    emit: str | None = flag(
        None,
        "do not run; write the partitioned program as text, as a portable artifact, as HLO "
        "compiled by XLA, or as a module for IREE",
        choices=("stablehlo", "portable", "hlo", "vmfb"),
    )
    target: str = flag(
        "llvm-cpu", "target of --emit=vmfb (default: %(default)s)", choices=("llvm-cpu", "cuda")
    )
    output: str = flag("-", "output file of --emit (default: -)", "FILE", name="o")
    optimization: int | None = flag(
        None,
        "optimization level; 0 compiles fastest, 3 runs fastest (default: the backend's)",
        choices=range(4),
    )
    cache: str | None = flag(
        None, "cache partitioned and compiled programs in this directory", "DIR"
    )
    custom_call: tuple[str, ...] = flag(
        (),
        "implement custom calls of this target by a function in a Python file, which takes "
        "the local operands as NumPy arrays and returns the local results",
        "TARGET=FILE:FUNCTION",
    )
    nan_safe: bool = flag(False, "preserve NaN in max and min all-reduces, which XLA drops on CPUs")
    print_module: bool = flag(False, "print the partitioned program first")
    no_check: bool = flag(False, "do not run the unpartitioned program")


parser = partial(
    Parser[RunFlags],
    "sdy-run",
    "Propagates and partitions a program, runs it on simulated devices with random inputs, "
    "and compares the results with those of the unpartitioned program.",
    RunFlags,
)
"""Makes the parser of the command line."""


def _run(arguments: RunFlags, tool: Tool) -> int:
    _check(arguments)
    tool.start(arguments, arguments.file)
    # All of these load the MLIR host or are slow to load; --help and bad usage do without.
    from mlir_sdy.assembly import asm  # noqa: PLC0415
    from pyshardy.backends.arrays.comparison import random_inputs  # noqa: PLC0415
    from pyshardy.cli.reading import read_program, shown_name  # noqa: PLC0415
    from pyshardy.cli.run_files import (  # noqa: PLC0415
        emit_program,
        load_functions,
        load_inputs,
        save_outputs,
    )
    from pyshardy.cli.run_report import Profile, RunReport  # noqa: PLC0415
    from pyshardy.irtools.shardings import any_sharding  # noqa: PLC0415

    functions = load_functions(arguments.custom_call)
    options = CompileOptions(
        arguments.optimization, arguments.cache, functions, nan_safe=arguments.nan_safe
    )
    profile = Profile(arguments.profile)
    if not arguments.emit:
        for backend in {arguments.backend, arguments.compare or SAME} - {SAME}:
            registered(backend).check_installed()
    filename = shown_name(arguments.file)
    module = read_program(arguments.file, tool, arguments.mesh)
    prepared = _prepared(module, arguments, profile)
    program, original, ports = prepared.program, prepared.original, prepared.ports
    if arguments.emit:
        with activity("compiling"):
            emit_program(program, arguments.emit, arguments.output, arguments.target, options)
        return 0
    inputs = (
        load_inputs(arguments.inputs, ports)
        if arguments.inputs
        else random_inputs([port.spec for port in ports], arguments.seed)
    )
    quiet = arguments.backend == "mpi" and is_later_rank()
    if arguments.print_module and not quiet:
        print(asm(program.module))
    report = RunReport(program, filename, quiet=quiet)
    report.print_program(
        is_annotated=any_sharding(original, lambda each: not each.is_fully_replicated)
    )
    with activity(f"running on {program.mesh.total_size} devices"):
        outputs = profile.run(
            "on all devices", lambda: prepared.run(inputs, arguments.backend, options)
        )
    if arguments.outputs:
        save_outputs(arguments.outputs, program.outputs, outputs)
    status = 0
    if arguments.no_check:
        report.print_outputs()
    elif not _agree(arguments, original, inputs, outputs, options, profile, report):
        status = 1
    if arguments.profile is not None:
        report.print_profile(profile.measurements)
    return status


def _check(arguments: RunFlags) -> None:
    """Raise an error for flags that cannot be combined."""
    for name, given in {"compare": arguments.compare, "tolerance": arguments.tolerance}.items():
        if arguments.no_check and given is not None:
            raise UsageError(error(f"'--{name}' and '--no-check' cannot be combined"))
    if arguments.output != "-" and not arguments.emit:
        raise UsageError(error("'-o' requires '--emit'; use '--outputs' to write arrays"))
    for name in ("outputs", "compare", "tolerance", "profile", "no_check", "print_module"):
        given = getattr(arguments, name)
        if arguments.emit and given is not None and given is not False:
            spelling = f"'--{name.replace('_', '-')}'"
            raise UsageError(error(f"{spelling} is for programs that run: '--emit' runs none"))
    if arguments.target != "llvm-cpu" and arguments.emit != "vmfb":
        raise UsageError(error("'--target' requires '--emit=vmfb'"))
    if arguments.emit in ("portable", "vmfb"):
        refuse_binary_on_terminal(arguments.emit, arguments.output)


@dataclass(frozen=True)
class _Prepared:
    """A program to run.

    Attributes:
        program: it, partitioned.
        original: it, as it was before, for the same sizes.
        run: runs the partitioned program.
        ports: its arguments, with the shapes of its inputs.
    """

    program: PartitionedProgram
    original: ir.Module
    run: Callable[[Sequence[Array], str, CompileOptions], list[Array]]
    ports: Sequence[Port]


def _prepared(module: ir.Module, arguments: RunFlags, profile: Profile) -> _Prepared:
    """Return the program, for the sizes of the flags if it has dynamic ones."""
    from pyshardy.irtools.modules import copy_of  # noqa: PLC0415 (loads the MLIR host)
    from pyshardy.sizes.signature import takes_sizes  # noqa: PLC0415

    names = ("size", "hint", "buckets", "uneven")
    if takes_sizes(module, {f"--{name}": getattr(arguments, name) for name in names}):
        return _at_sizes(module, arguments, profile)
    if arguments.emit and arguments.inputs:  # which tell dynamic sizes
        raise UsageError(error("'--inputs' is for programs that run: '--emit' runs none"))
    original = copy_of(module)
    program = _partitioned(module, arguments, profile)
    return _Prepared(program, original, program.run, program.inputs)


def _at_sizes(module: ir.Module, arguments: RunFlags, profile: Profile) -> _Prepared:
    """Return a program with dynamic sizes for those of the flags."""
    from pyshardy.advised_partition import partition_dynamic  # noqa: PLC0415
    from pyshardy.api import propagate  # noqa: PLC0415
    from pyshardy.cli.reading import rule_flags_applied  # noqa: PLC0415
    from pyshardy.cli.run_files import input_shapes  # noqa: PLC0415
    from pyshardy.dynamic.buckets import buckets_in  # noqa: PLC0415
    from pyshardy.sizes.symbols import values_in  # noqa: PLC0415

    if arguments.schedule:
        message = "'--schedule' is for programs with static sizes: see --sdy-dynamic-to-static"
        raise UsageError(error(f"{message} of sdy-opt"))
    with activity("partitioning"), rule_flags_applied(arguments):
        with profile.stage("propagate"):
            propagate(module, hints=values_in(arguments.hint, "--hint"))
        with profile.stage("partition"):
            dynamic = partition_dynamic(
                module,
                uneven=cast("Uneven | None", arguments.uneven),
                buckets=buckets_in(arguments.buckets, "--buckets") or None,
                hardware=arguments.hardware,
                cache=arguments.cache,
            )
            sizes = dynamic.hints | values_in(arguments.size, "--size")
            if arguments.inputs and not arguments.size:
                names = [port.name for port in dynamic.inputs]
                sizes = dynamic.values_of(*input_shapes(arguments.inputs, names))
            program = dynamic.at(**sizes)
    specs = dynamic.input_specs(**sizes)
    ports = [replace(port, spec=spec) for port, spec in zip(program.inputs, specs, strict=False)]
    return _Prepared(program, dynamic.static(**sizes), dynamic.run, ports)


def _partitioned(module: ir.Module, arguments: RunFlags, profile: Profile) -> PartitionedProgram:
    from pyshardy.advised_partition import partition  # noqa: PLC0415
    from pyshardy.caching.programs import run_or_restore  # noqa: PLC0415
    from pyshardy.caching.store import Store  # noqa: PLC0415
    from pyshardy.cli.reading import rule_flags_applied  # noqa: PLC0415
    from pyshardy.contracts.attributes import (  # noqa: PLC0415
        copy_with_contracts,
        remember_annotated,
    )
    from pyshardy.pipeline import run_pipeline  # noqa: PLC0415

    with activity("partitioning"), rule_flags_applied(arguments):
        with profile.stage("propagate"):
            if arguments.schedule:
                from pyshardy.schedules.schedule import load_schedule  # noqa: PLC0415

                module = load_schedule(arguments.schedule).propagated(module)
            else:
                annotated = copy_with_contracts(module)
                run = partial(run_pipeline, module, _PROPAGATION, restore_on_failure=False)
                run_or_restore(Store.at(arguments.cache), module, _PROPAGATION, run)
                remember_annotated(module, annotated)
        with profile.stage("partition"):
            # Advice on contracts is for the partitioner without options.
            options: PartitionOptions = {}
            if arguments.overlap != "none":
                options["overlap"] = cast("Overlap", arguments.overlap)
            return partition(module, hardware=arguments.hardware, cache=arguments.cache, **options)


def _agree(
    arguments: RunFlags,
    original: ir.Module,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    options: CompileOptions,
    profile: Profile,
    report: RunReport,
) -> bool:
    """Whether the outputs match those of the unpartitioned program; prints the comparison."""
    # All of these load the MLIR host or are slow to load.
    from pyshardy.backends.arrays.comparison import (  # noqa: PLC0415
        Verdict,
        known_defects,
        overall,
    )
    from pyshardy.cli.run_report import differences_of  # noqa: PLC0415
    from pyshardy.program import compile_unpartitioned  # noqa: PLC0415

    backend = arguments.compare
    if backend in (None, SAME):
        backend = arguments.backend
    with activity("running the unpartitioned program"):
        run = compile_unpartitioned(original, backend, options)
        expected = profile.run("on one device", lambda: run(inputs))
    differences = differences_of(
        run, inputs, outputs, expected, original, report.program.outputs, arguments.tolerance
    )
    report.print_outputs(differences)
    if not all(difference.is_small for difference in differences) or _have_nans(outputs, expected):
        runs = ((report.program.module, arguments.backend), (original, backend))
        for defect in dict.fromkeys(
            each for module, name in runs for each in known_defects(module, name, options)
        ):
            emit(warning(f"the comparison may be unreliable: {defect}"))
    return overall(differences) is Verdict.OK


def _have_nans(*several: Sequence[Array]) -> bool:
    """Whether any array has an element that is not a number."""
    import numpy as np  # noqa: PLC0415

    # Small types of `ml_dtypes` are floating-point numbers, too, of a kind of their own.
    wide = (array.astype(np.complex128) for arrays in several for array in arrays)
    return any(bool(np.isnan(each).any()) for each in wide)


main = entry_point("sdy-run", parser, _run)
"""Runs the tool; see `entry_point`."""


if __name__ == "__main__":
    sys.exit(main())
