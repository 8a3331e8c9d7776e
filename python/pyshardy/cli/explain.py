# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-explain`: explain shardings and collectives.

    sdy-explain program.mlir
    sdy-explain program.mlir --value=%5 --value="params['w']" --value=model.py:40
    sdy-explain program.mlir --collectives
    sdy-explain program.mlir --html=report.html --hardware=tpu-v5e
    sdy-explain program.mlir --diff=other.mlir --html=report.html
    sdy-explain program.mlir --timeline
    sdy-explain program.mlir --trace=trace.json
    sdy-explain program.mlir --against-xla
    sdy-explain program.mlir --check=contract.toml
    sdy-explain program.mlir --size=b=1,64,4096
    sdy-explain program.mlir --what-if="params['w']=[{'model'}, {}]"

Propagates and partitions the program, but does not run it.

Exit status: 0 when all went well, else 1, also if the program violates a contract.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from mlir_sdy.diagnostics import UsageError, emit, error
from pyshardy.cli.flags import (
    CACHE,
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
from pyshardy.cli.output import activity, write_report
from pyshardy.cli.tool import Parser, Tool, entry_point

if TYPE_CHECKING:
    from mlir_sdy.diagnostics import Diagnostic
    from mlir_sdy.host import ir
    from pyshardy.cli.explain_ahead import ReportAhead
    from pyshardy.contracts.contract import Contract
    from pyshardy.explain.program import ExplainedProgram
    from pyshardy.explain.sizes import SizesComparison
    from pyshardy.explain.what_if import WhatIf
    from pyshardy.forms import Form
    from pyshardy.pipelines.partition import PartitionOptions
    from pyshardy.propagation.debugging.explanation import Propagation
    from pyshardy.schedules.plan import Plan


_NUM_VALUES = 50
"""The number of largest values in the JSON output."""


@dataclass(frozen=True, kw_only=True)
class ExplainFlags(MeshFlag, SizeFlag, ScheduleFlag, OverlapFlag, RuleFlags, GuardFlags):
    """The flags of sdy-explain."""

    file: str = argument("input file; - for standard input", default="-")
    size: tuple[str, ...] = flag(
        (),
        "the value of a dynamic size for which the program is explained, such as b=128; of several "
        "values, such as b=1,64, the costs of one plan for all are compared; may be repeated "
        "(default: its hint)",
        "NAME=N",
    )
    value: tuple[str, ...] = flag(
        (),
        "explain a value: a name in the text ('%%5', '%%name'), 'arg2', 'result 0', the name "
        "of an argument, or a source line ('12', 'model.py:40'); may be repeated",
        "VALUE",
    )
    axis: tuple[str, ...] = flag(
        (), "with --value, explain in full why this axis shards the value, or doesn't", "AXIS"
    )
    replicated: bool = flag(
        False,
        "list the largest replicated values, with reasons and the bytes that sharding them would "
        "save",
    )
    form: str = flag(
        "sdy",
        "form of shardings in explanations: sdy's own, JAX's P('data', None), or PyTorch's "
        "placements (default: %(default)s)",
        choices=("sdy", "jax", "dtensor"),
    )
    collectives: bool = flag(False, "explain each collective in detail")
    timeline: bool = flag(
        False,
        "print how much of each collective the computation hides, and why the rest is exposed",
    )
    hardware: str = flag(
        "default",
        "hardware that the program is partitioned for: a preset or a TOML file "
        "(default: %(default)s)",
        HARDWARE_FORM,
    )
    report_hardware: str | None = flag(
        None,
        "hardware for cost estimates (default: that of --hardware, or h100 without it)",
        HARDWARE_FORM,
    )
    diff_hardware: str = flag(
        "",
        "compare with the plan for this hardware, and the cost of both on it",
        HARDWARE_FORM,
    )
    diff: str = flag("", "compare costs and shardings with those of another plan", "FILE")
    html: str | None = flag(
        None,
        "write an HTML report of the program; with --diff, of both plans; with --schedule, of "
        "the program after each tactic",
        "FILE",
    )
    trace: str | None = flag(
        None, "write the estimated timeline in Chrome's trace format, for Perfetto", "FILE"
    )
    against_xla: bool = flag(
        False, "compare the collectives with those of XLA's partitioner (needs the extra jax)"
    )
    what_if: tuple[str, ...] = flag(
        (),
        "show the effect of another sharding of a value, such as "
        "\"params['w']=[{'model'}, {}]\"; several ones are changed together",
        "VALUE=SHARDING",
    )
    advise: bool = flag(
        False,
        "try constraints on values that propagation shards along another dimension, and print "
        "those with which devices send fewer bytes; with --value, constraints on these values",
    )
    check: tuple[str, ...] = flag(
        (),
        "check that the program is within the limits of a contract: a TOML file, or a text "
        "such as 'no all_gather along data; at most 1GiB of memory'; may be repeated",
        "FILE.toml|LIMITS",
    )
    model_explorer: str | None = flag(None, "write a graph for the viewer Model Explorer", "FILE")
    json: bool = flag(False, "print the output as JSON")
    cache: str | None = flag(None, CACHE, "DIR", alone="true")

    @property
    def hints(self) -> list[str]:
        """The values of `--size` for which the program is explained, as that flag has them."""
        from pyshardy.sizes.symbols import several_in  # noqa: PLC0415 (loads the host)

        found = several_in(self.size, "--size").items()
        return [f"{name}={values[0]}" for name, values in found if len(values) == 1]


parser = partial(
    Parser[ExplainFlags],
    "sdy-explain",
    "Propagates and partitions a program. Reports why values have their shardings, why "
    "collectives exist, and how much they cost.",
    ExplainFlags,
)
"""Makes the parser of the command line."""


_OF_ONE_PROGRAM = (
    *("against_xla", "check", "collectives", "diff", "html", "model_explorer", "replicated"),
    *("timeline", "trace"),
)
"""The flags that ask about the program as it is."""


def _run(arguments: ExplainFlags, tool: Tool) -> int:
    for spelling, given in (("--what-if", arguments.what_if), ("--advise", arguments.advise)):
        if given and arguments.schedule:
            message = f"'{spelling}' is for annotated programs: it can't be combined with"
            advice = "add a 'manual' tactic to the schedule instead"
            raise UsageError(error(f"{message} '--schedule'; {advice}"))
        for other in _OF_ONE_PROGRAM if given else ():
            if getattr(arguments, other):
                message = f"'--{other.replace('_', '-')}' can't be combined with '{spelling}'"
                raise UsageError(error(f"{message}, which compares other programs: run each alone"))
        if given and arguments.overlap != "none":
            message = f"'--overlap' can't be combined with '{spelling}'"
            raise UsageError(error(f"{message}, which compares programs without overlap"))
    if arguments.what_if and arguments.advise:
        raise UsageError(error("'--what-if' and '--advise' try other shardings: run each alone"))
    if arguments.diff_hardware:
        _check_alone(arguments)
    if arguments.overlap != "none" and arguments.schedule:
        message = "'--overlap' can't be combined with '--schedule', whose steps are without overlap"
        raise UsageError(error(f"{message}; '--timeline' has what a scheduler hides"))
    tool.start(arguments, *filter(None, (arguments.file, arguments.diff)))
    tool.keep_objects()
    from pyshardy.cli.explain_ahead import ReportAhead  # noqa: PLC0415 (loads the MLIR host)

    with ReportAhead(cast("Form", arguments.form)) as ahead:
        return _explain_with(ahead, arguments, tool)


def _check_alone(arguments: ExplainFlags) -> None:
    """Check that `--diff-hardware` comes without flags that compare other plans."""
    for name in ("diff", "schedule", "what_if", "advise", "html", "report_hardware"):
        if getattr(arguments, name):
            message = "'--diff-hardware' compares plans for two kinds of hardware"
            spelling = f"--{name.replace('_', '-')}"
            raise UsageError(error(f"{message}: it can't be combined with '{spelling}'"))


def _explain_with(ahead: ReportAhead, arguments: ExplainFlags, tool: Tool) -> int:
    contract = _contract(arguments)
    shardings = _shardings(arguments)
    # These load the MLIR host; --help and bad usage do without.
    from pyshardy.caching.store import Store  # noqa: PLC0415
    from pyshardy.cli.explain_cache import answer_or_restore  # noqa: PLC0415
    from pyshardy.cli.reading import at_sizes, check_axes, read_program  # noqa: PLC0415

    given = read_program(arguments.file, tool, arguments.mesh)
    module = at_sizes(given, arguments.hints)
    check_axes("--what-if", arguments.what_if, module, tool)
    files = [*filter(None, (arguments.html, arguments.trace, arguments.model_explorer))]
    # XLA's answer depends on more than this package; what is written to "-" isn't text alone.
    is_stored = not arguments.against_xla and "-" not in files
    store = Store.at(arguments.cache) if is_stored else None
    dynamic = None if given is module else given
    answer = partial(_answer, ahead, module, dynamic, contract, shardings, arguments, tool)
    return answer_or_restore(store, given, arguments, files, answer)


def _answer(
    ahead: ReportAhead,
    module: ir.Module,
    dynamic: ir.Module | None,
    contract: Contract | None,
    shardings: Mapping[str, str],
    arguments: ExplainFlags,
    tool: Tool,
) -> int:
    """Print and write what the flags ask for, and return the exit status."""
    from pyshardy.backends.xla.preparation import text_to_partition  # noqa: PLC0415
    from pyshardy.cli.reading import read_program, shown_name  # noqa: PLC0415
    from pyshardy.explain.against_xla import against_xla  # noqa: PLC0415
    from pyshardy.explain.cost_difference import compare_explained  # noqa: PLC0415
    from pyshardy.explain.page.render import render_page  # noqa: PLC0415

    title = shown_name(arguments.file)
    annotated = text_to_partition(module) if arguments.against_xla else ""
    plan = _plan(module, arguments) if arguments.schedule else None
    if plan is not None:
        explained = plan[-1].explained
    else:
        starts_report = arguments.html and not arguments.diff
        on_propagated = ahead.on_propagated if starts_report else None
        explained = _explained(module, title, arguments, on_propagated)
        if dynamic is not None:
            explained = replace(explained, sizes=_compared(dynamic, arguments))
    explained = replace(explained, form=cast("Form", arguments.form))
    with activity("partitioning by XLA") if arguments.against_xla else nullcontext():
        xla = against_xla(annotated, explained.program) if arguments.against_xla else None
    explanations = {word: explained.find(word) for word in arguments.value}
    _check_axes(arguments, explained)
    other = None
    if arguments.diff:
        other_module = read_program(arguments.diff, tool, arguments.mesh, arguments.hints)
        other_title = shown_name(arguments.diff)
        if plan is None:
            other = _explained(other_module, other_title, arguments)
        else:
            other = _plan(other_module, arguments)[-1].explained
    elif arguments.diff_hardware:
        other_module = read_program(arguments.file, tool, arguments.mesh, arguments.hints)
        on_other = replace(arguments, hardware=arguments.diff_hardware)
        other = _explained(other_module, title, on_other)
    if arguments.html:
        with activity("writing the report"):
            if other is not None:
                page = render_page(explained, title, other, xla)
            elif plan is not None:
                page = plan.html(title)
            else:
                page = ahead.page(explained, title, xla)
        write_report(arguments.html, page)
    if arguments.trace:
        write_report(arguments.trace, _trace(explained))
    if arguments.model_explorer:
        write_report(arguments.model_explorer, _graph(explained, title))
    if arguments.what_if:
        _print_what_if(shardings, arguments, tool)
        return 0
    if arguments.advise:
        _print_advice(arguments, tool)
        return 0
    status = 0 if contract is None else _check(explained, contract, arguments, tool)
    asks = (
        arguments.value
        or arguments.replicated
        or arguments.collectives
        or arguments.timeline
        or arguments.json
        or other
        or xla
    )
    made = arguments.html or arguments.trace or arguments.model_explorer or arguments.check
    if made and not asks:
        return status
    difference = None if other is None else compare_explained(explained, other)
    cost = explained.cost
    if arguments.json:
        answers: dict[str, object] = {
            "values": explanations,
            "cost": cost,
            "difference": difference,
        }
        if arguments.replicated:
            answers["replicated"] = tuple(explained.replicated(_NUM_VALUES))
        if arguments.timeline:
            answers["timeline"] = explained.timeline
        if explained.sizes is not None:
            answers["sizes"] = explained.sizes
        _print_json(explained, answers if xla is None else {**answers, "against_xla": xla.kinds})
        return status
    from pyshardy.cli.explain_report import ExplainReport  # noqa: PLC0415 (loads rich)

    report = ExplainReport(explained, title)
    for word, found in explanations.items():
        report.print_values(word, found, arguments.axis)
    if arguments.replicated:
        report.print_tables(explained.replicated().tables())
    if arguments.collectives:
        report.print_reasons()
    if arguments.timeline:
        report.print_tables(explained.timeline.tables())
    if xla is not None:
        report.print_against_xla(xla)
    if difference is not None:
        if other is not None and arguments.diff_hardware:
            report.print_hardware_difference(difference, other.report_hardware)
        else:
            report.print_difference(difference, (title, shown_name(arguments.diff)))
    elif not asks:
        if explained.sizes is not None:
            report.print_tables(explained.sizes.tables())
        report.print_program()
        report.print_cost(cost)
    return status


def _check_axes(arguments: ExplainFlags, explained: ExplainedProgram) -> None:
    """Check that `--axis` comes with `--value`, and names axes of the mesh."""
    from mlir_sdy.suggest import did_you_mean  # noqa: PLC0415

    meshes = explained.record.engine.program.meshes.values()
    names = [axis.name for mesh in meshes for axis in mesh.axes]
    for axis in arguments.axis:
        if not arguments.value:
            raise UsageError(error("'--axis' explains an axis of a value: add '--value=NAME'"))
        if axis not in names:
            hint = did_you_mean(axis, names)
            raise UsageError(error(f"'--axis': no mesh has an axis '{axis}'{hint}"))


def _contract(arguments: ExplainFlags) -> Contract | None:
    """Return the limits of `--check`."""
    if not arguments.check:
        return None
    from pyshardy.contracts.contract import Contract  # noqa: PLC0415
    from pyshardy.contracts.files import read_contract  # noqa: PLC0415

    return functools.reduce(Contract.merged, map(read_contract, arguments.check))


def _shardings(arguments: ExplainFlags) -> dict[str, str]:
    """Return the shardings of `--what-if` by values."""
    from pyshardy.cli.reading import read_shardings  # noqa: PLC0415

    return dict(read_shardings("--what-if", arguments.what_if))


def _print_what_if(shardings: Mapping[str, str], arguments: ExplainFlags, tool: Tool) -> None:
    """Print the effect of other shardings; as JSON the program with them, and the difference."""
    from pyshardy.cli.reading import rule_flags_applied  # noqa: PLC0415
    from pyshardy.cli.tables import Printer  # noqa: PLC0415

    with activity("partitioning"), rule_flags_applied(arguments):
        change = _what_if(arguments, tool).shard_all(shardings)
    if arguments.json:
        explained = change.explained
        values = {word: explained.find(word) for word in arguments.value}
        answers = {"cost": explained.cost, "difference": change.difference, "added": change.added}
        _print_json(explained, {"values": values, **answers})
        return
    printer = Printer()
    printer.tables(change.tables())
    for each in change.added:
        printer.line(f"\n{each}")
    if arguments.value:
        from pyshardy.cli.explain_report import ExplainReport  # noqa: PLC0415 (loads rich)

        report = ExplainReport(change.explained, "with this change")
        for word in arguments.value:
            report.print_values(word, change.explained.find(word), arguments.axis)


def _print_advice(arguments: ExplainFlags, tool: Tool) -> None:
    """Print the constraints that help."""
    from pyshardy.cli.reading import rule_flags_applied  # noqa: PLC0415

    with activity("trying constraints"), rule_flags_applied(arguments):
        what_if = _what_if(arguments, tool)
        found = (
            [each for word in arguments.value for each in what_if.advice_on(word)]
            if arguments.value
            else what_if.advice()
        )
    if arguments.json:
        told = [{"advice": str(each), "nbytes_saved": each.nbytes_saved} for each in found]
        json.dump(told, sys.stdout, indent=2)
        print()
        return
    for each in found:
        print(each)
    if not found:
        print("no constraint that was tried makes devices send fewer bytes")


def _check(
    explained: ExplainedProgram, contract: Contract, arguments: ExplainFlags, tool: Tool
) -> int:
    """Report the limits that the program exceeds, and return the exit status."""
    from pyshardy.display import counted  # noqa: PLC0415
    from pyshardy.explain.contract_advice import advice_on_contract  # noqa: PLC0415
    from pyshardy.explain.program_explanation import ProgramExplanation  # noqa: PLC0415

    measured = ProgramExplanation.of(explained).measured
    contract.warn_of_unknown_places(measured)
    violations = contract.violations(measured)
    if not violations:
        limits = counted(len(str(contract).splitlines()), "limit")
        print(f"the program keeps its contract ({limits})", file=sys.stderr)
        return 0
    advice: list[Diagnostic] = []
    if not arguments.schedule:
        with activity("trying constraints"):
            advice = advice_on_contract(_what_if(arguments, tool), contract)
    *others, last = (violation.diagnostic for violation in violations)
    for each in (*others, replace(last, notes=(*last.notes, *advice))):
        emit(each)
    return 1


def _what_if(arguments: ExplainFlags, tool: Tool) -> WhatIf:
    """Return the what-if of the program in the file."""
    from pyshardy.cli.reading import read_program, rule_flags_applied  # noqa: PLC0415
    from pyshardy.explain.what_if import whatif  # noqa: PLC0415

    module = read_program(arguments.file, tool, arguments.mesh, arguments.hints)
    with rule_flags_applied(arguments):
        return whatif(
            module, hardware=arguments.hardware, report_hardware=arguments.report_hardware
        )


def _explained(
    module: ir.Module,
    title: str,
    arguments: ExplainFlags,
    on_propagated: Callable[[ir.Module, Propagation], None] | None = None,
) -> ExplainedProgram:
    """Return the explained program of a module, which is propagated in place."""
    from pyshardy.cli.reading import rule_flags_applied  # noqa: PLC0415
    from pyshardy.explain.contract_advice import explain_with_contracts  # noqa: PLC0415

    with activity("partitioning"), rule_flags_applied(arguments):
        return explain_with_contracts(
            module,
            partition_options=cast("PartitionOptions", {"overlap": arguments.overlap}),
            hardware=arguments.hardware,
            report_hardware=arguments.report_hardware,
            title=title,
            # Marks take time; without them inner values have no name for '--what-if'.
            marks_operations=bool(arguments.value or arguments.replicated or arguments.json),
            on_propagated=on_propagated,
        )


def _compared(dynamic: ir.Module, arguments: ExplainFlags) -> SizesComparison:
    """Return the plan of a program at the sizes of the flags."""
    from pyshardy.cli.reading import rule_flags_applied  # noqa: PLC0415
    from pyshardy.explain.sizes import compare_sizes  # noqa: PLC0415
    from pyshardy.sizes.symbols import several_in  # noqa: PLC0415

    sizes = {
        name: values[0] if len(values) == 1 else values
        for name, values in several_in(arguments.size, "--size").items()
    }
    with activity("partitioning"), rule_flags_applied(arguments):
        compared, _ = compare_sizes(
            dynamic,
            sizes,
            {},
            hardware=arguments.hardware,
            report_hardware=arguments.report_hardware,
        )
    return compared


def _plan(module: ir.Module, arguments: ExplainFlags) -> Plan:
    """Apply the tactics of `--schedule`, and print their effects."""
    from pyshardy.cli.reading import rule_flags_applied  # noqa: PLC0415
    from pyshardy.cli.tables import Printer  # noqa: PLC0415
    from pyshardy.schedules.schedule import load_schedule  # noqa: PLC0415

    with activity("partitioning"), rule_flags_applied(arguments):
        plan = load_schedule(arguments.schedule).apply(
            module, hardware=arguments.hardware, report_hardware=arguments.report_hardware
        )
    if not arguments.json:
        Printer().tables(plan.tables())
    return plan


def _trace(explained: ExplainedProgram) -> str:
    from pyshardy.explain.viewers import chrome_trace  # noqa: PLC0415

    return json.dumps(chrome_trace(explained))


def _graph(explained: ExplainedProgram, title: str) -> str:
    from pyshardy.explain.page.gather import page_data  # noqa: PLC0415
    from pyshardy.explain.viewers import model_explorer  # noqa: PLC0415

    return json.dumps(model_explorer(page_data(explained, title)))


def _print_json(explained: ExplainedProgram, answers: Mapping[str, object]) -> None:
    from pyshardy.explain.largest import largest_values  # noqa: PLC0415
    from pyshardy.explain.plain import plain  # noqa: PLC0415

    program = explained.program
    answer = {
        "mesh": program.mesh,
        "inputs": program.inputs,
        "outputs": program.outputs,
        "largest": largest_values(explained, _NUM_VALUES),
        "collectives": explained.collectives,
        **answers,
    }
    json.dump(plain(answer), sys.stdout, indent=2)
    print()


main = entry_point("sdy-explain", parser, _run)
"""Runs the tool; see `entry_point`."""


if __name__ == "__main__":
    sys.exit(main())
