# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-auto`: find the shardings of a program with the least cost.

    sdy-auto program.mlir --mesh=data:4,model:2 --hardware=h100 -o annotated.mlir
    sdy-auto program.mlir --memory=16GiB --html=report.html
    sdy-auto program.mlir --explain="params['w']" --fix="*['embed']=[{'model'}, {}]"
    sdy-auto program.mlir --pareto=80GB,40GB,20GB

Prints the shardings of arguments and results, the cost with its proven bound, and the largest costs
of communication. The annotated program is propagated and partitioned like any other.

Exit status: 0 when a plan was found, else 1.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.cli.flags import (
    CACHE,
    HARDWARE_FORM,
    GuardFlags,
    MeshFlag,
    OverlapFlag,
    RuleFlags,
    SizeFlag,
    argument,
    flag,
)
from pyshardy.cli.output import check_outputs, write_report
from pyshardy.cli.tool import Parser, Tool, entry_point

if TYPE_CHECKING:
    from mlir_sdy.host import ir
    from pyshardy.auto.plans.pareto import Pareto
    from pyshardy.auto.plans.plan import Constraints, ShardingPlan
    from pyshardy.auto.solvers.solver import Progress
    from pyshardy.auto.strategies.costs import CostModel
    from pyshardy.cost.hardware import Hardware
    from pyshardy.pipelines.partition import Overlap


@dataclass(frozen=True, kw_only=True)
class AutoFlags(MeshFlag, SizeFlag, RuleFlags, OverlapFlag, GuardFlags):
    """The flags of sdy-auto."""

    file: str = argument("input file; - for standard input", default="-")
    hardware: str = flag(
        "default",
        "hardware whose cost counts: a preset or a TOML file (default: %(default)s, which stands "
        "for h100)",
        HARDWARE_FORM,
    )
    memory: str | None = flag(
        None, "memory of a device, such as 40GB (default: any amount)", "SIZE"
    )
    objective: Literal["time", "bytes"] = flag(
        "time",
        "what is minimized: time, or bytes sent (default: %(default)s)",
        choices=("time", "bytes"),
    )
    axes: str | None = flag(None, "axes of the mesh that may be used (default: all)", "A,B")
    free: bool = flag(False, "change the shardings of the program as well")
    uneven: bool = flag(
        False, "permit axes to shard dimensions that they don't divide; shards are padded"
    )
    sub_axes: bool = flag(
        False, "permit a part of an axis to shard a dimension that the whole one doesn't divide"
    )
    once: bool = flag(
        False,
        "the program runs once: its results needn't have the shardings of the arguments that they "
        "replace, as the parameters of a training step",
    )
    fix: tuple[str, ...] = flag(
        (),
        "fix a sharding, such as \"params['w']=[{'model'}, {}]\"; the value may be a pattern; "
        "may be repeated",
        "VALUE=SHARDING",
    )
    forbid: tuple[str, ...] = flag((), "forbid a sharding; may be repeated", "VALUE=SHARDING")
    gap: float = flag(
        0.01,
        "stop when the plan is proven to be within this fraction of the optimum "
        "(default: %(default)s)",
        "FRACTION",
    )
    timeout: float = flag(
        60.0, "stop after this time with the best plan so far (default: %(default)s)", "SECONDS"
    )
    solver: str = flag("combined", "solver (default: %(default)s)", "NAME")
    measured: str | None = flag(
        None,
        "measured times: columns kind (a collective or an operation), axis, bytes, flops, "
        "and seconds",
        "FILE.csv",
    )
    byte_price: float = flag(
        0.0,
        "added to the time for each byte that a device sends, so that plans that send less "
        "may take longer (default: %(default)s)",
        "SECONDS",
    )
    explain: tuple[str, ...] = flag(
        (), "show the best plan in which a value is sharded otherwise; may be repeated", "VALUE"
    )
    pareto: str | None = flag(
        None, "show the cost for several amounts of memory: 80GB,40GB", "SIZES"
    )
    check: bool = flag(
        False,
        "partition the program, and compare its collectives and its peak memory with the "
        "predicted ones",
    )
    fit: bool = flag(
        False,
        "partition the program, and search again with less memory until it fits into --memory",
    )
    html: str | None = flag(
        None,
        "write an HTML report of the plan: "
        "its certificate, the alternatives of each argument, the memory if --pareto is given, and "
        "the program",
        "FILE",
    )
    save: str | None = flag(None, "write the shardings by name", "FILE.json")
    cache: str | None = flag(None, CACHE, "DIR", alone="true")
    output: str | None = flag(None, "write the annotated program", "FILE", name="o")


parser = partial(
    Parser[AutoFlags],
    "sdy-auto",
    "Finds the shardings of a program with the least cost on some hardware, and proves how "
    "far from the optimum they are at most.",
    AutoFlags,
)
"""Makes the parser of the command line."""


def _costs(arguments: AutoFlags, hardware: Hardware, module: ir.Module) -> CostModel | None:
    """Return the costs that flags ask for in place of the objective; None without these flags."""
    from mlir_sdy.symbols import meshes_of  # noqa: PLC0415
    from pyshardy.auto.strategies.costs import HardwareCosts, PricedBytes, read_measured  # noqa: PLC0415

    mesh = next((mesh for mesh in meshes_of(module).values() if mesh.axes), None)
    costs = read_measured(arguments.measured, hardware, mesh) if arguments.measured else None
    if arguments.byte_price:
        return PricedBytes(costs or HardwareCosts(hardware), arguments.byte_price)
    return costs


def _run(arguments: AutoFlags, tool: Tool) -> int:
    tool.start(arguments, arguments.file)
    # These load the MLIR host; --help and bad usage do without.
    from pyshardy.auto.entry import auto_shard  # noqa: PLC0415
    from pyshardy.cli.reading import (  # noqa: PLC0415
        check_axes,
        read_program,
        rule_flags_applied,
        shown_name,
    )
    from pyshardy.cost.hardware import report_hardware_of  # noqa: PLC0415

    if arguments.fit and not arguments.memory:
        raise UsageError(error("'--fit' needs the memory of a device: --memory"))
    if arguments.objective == "bytes" and (arguments.measured or arguments.byte_price):
        raise UsageError(error("'--measured' and '--byte-price' are for '--objective=time'"))
    check_outputs(arguments.html, arguments.save, arguments.output)
    hardware = report_hardware_of(arguments.hardware)
    module = read_program(arguments.file, tool, arguments.mesh, arguments.size)
    check_axes("--fix", arguments.fix, module, tool)
    check_axes("--forbid", arguments.forbid, module, tool)
    _check_explained(arguments.explain, module)  # fails before the search
    with rule_flags_applied(arguments):
        plan = auto_shard(
            module,
            hardware=hardware,
            memory=arguments.memory,
            objective=arguments.objective,
            axes=arguments.axes.split(",") if arguments.axes else None,
            fixed=not arguments.free,
            uneven=arguments.uneven,
            sub_axes=arguments.sub_axes,
            once=arguments.once,
            timeout=arguments.timeout,
            gap=arguments.gap,
            solver=arguments.solver,
            overlap=cast("Overlap", arguments.overlap),
            costs=_costs(arguments, hardware, module),
            progress=_show,
            cache=arguments.cache,
        )
        if arguments.fix or arguments.forbid:
            plan = _constrained(plan.constraints, arguments).solve(progress=_show)
        plan = plan.fitted() if arguments.fit else plan
        pareto = _pareto(plan, arguments.pareto) if arguments.pareto else None
        _print(plan, pareto, arguments)
        if arguments.html:
            write_report(arguments.html, plan.html(title=shown_name(arguments.file), pareto=pareto))
    if arguments.save:
        plan.save(arguments.save)
    if arguments.output:
        from mlir_sdy.assembly import asm  # noqa: PLC0415

        write_report(arguments.output, asm(plan.module) + "\n")
    return 0


def _check_explained(names: Sequence[str], module: ir.Module) -> None:
    """Check that `--explain` has names of arguments and results, which a plan shards."""
    from pyshardy.irtools.functions import entry_block, main_function  # noqa: PLC0415
    from pyshardy.irtools.named_values import NamedValues, result_names  # noqa: PLC0415

    values, main = NamedValues(module), main_function(module)
    body = None if main is None else entry_block(main)
    if main is None or body is None:
        return  # the search says so
    for name in names:
        found = values.find(name)
        is_argument = len(found) == 1 and found[0] in list(body.arguments)
        if not (is_argument or name.startswith("result") or name in result_names(main)):
            message = f"'--explain' takes an argument or a result, but '{name}' is a value inside"
            raise UsageError(error(f"{message}: 'sdy-explain --value={name}' explains it"))


def _constrained(constraints: Constraints, arguments: AutoFlags) -> Constraints:
    """Add the shardings of `--fix` and `--forbid`."""
    from pyshardy.cli.reading import read_shardings  # noqa: PLC0415

    for spelling, texts, add in (
        ("--fix", arguments.fix, type(constraints).fix),
        ("--forbid", arguments.forbid, type(constraints).forbid),
    ):
        for name, spec in read_shardings(spelling, texts):
            constraints = add(constraints, name, spec)
    return constraints


def _pareto(plan: ShardingPlan, sizes: str) -> Pareto:
    """Return the cost for the memory limits of `--pareto`."""
    from pyshardy.display import bytes_of_text  # noqa: PLC0415

    return plan.pareto([float(bytes_of_text(each)) for each in sizes.split(",")])


def _print(plan: ShardingPlan, pareto: Pareto | None, arguments: AutoFlags) -> None:
    from pyshardy.cli.tables import Printer  # noqa: PLC0415

    printer = Printer()
    printer.line(plan.summary())
    printer.tables(plan.tables())
    for name in arguments.explain:
        printer.line(f"\n{plan.explain(name)}")
    if pareto is not None:
        printer.tables(pareto.tables())
    if arguments.check:
        check = plan.check()
        printer.tables([check.table()])
        printer.line(f"\nbytes beyond the prediction: {check.difference:+.2%}")
        printer.line(
            f"peak memory: {check.predicted_memory:,.0f} bytes predicted, "
            f"{check.counted_memory:,.0f} counted"
        )
        if check.time_text:
            printer.line(f"time: {check.time_text}")
        limit = plan.search.options.limit
        if limit is not None and check.counted_memory > limit:
            excess = check.counted_memory - limit
            printer.line(f"the limit of {limit:,.0f} bytes is exceeded by {excess:,.0f}: add --fit")


def _show(progress: Progress) -> None:
    """Print the state of the search on standard error, if it is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        text = f"{progress.seconds:6.1f} s  {progress.stage}: best {progress.cost:.6g}, "
        print(f"{text}at least {progress.bound:.6g}", file=sys.stderr)


main = entry_point("sdy-auto", parser, _run)
"""Runs the tool; see `entry_point`."""


if __name__ == "__main__":
    sys.exit(main())
