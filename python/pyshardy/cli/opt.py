# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-opt`: an `mlir-opt` for programs in sdy, StableHLO and upstream's dialects.

    sdy-opt program.mlir --sdy-basic-propagate --canonicalize -o propagated.mlir
    sdy-opt --pass-pipeline='builtin.module(sdy-basic-propagate,func.func(cse))' < program.mlir

Exit status: 0 when all went well, else 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.cli.opt_flags import FLAGS, Arguments, load_passes, parse_arguments, reproducing_flags
from pyshardy.cli.tool import Tool, complete_if_asked, last_word, version_text
from pyshardy.pipeline import Option, passes, pipelines
from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
from pyshardy.pipeline.options import OptionType, option_text, origin_text
from pyshardy.pipeline.registry import PassInfo, PipelineInfo, pass_summaries

if TYPE_CHECKING:
    from pyshardy.cli.crash_report import PassReproducer

_COLUMN = 44
_WIDTH = 100

_PASSES = """\
There are {num_passes} passes and {num_pipelines} pipelines, and those of MLIR:
  sdy-opt --list-passes       lists them
  sdy-opt --help=PASS         describes a pass and its options
  sdy-opt --help-all          describes all
"""

_OVERVIEW = """\
OVERVIEW: runs passes on programs in the sdy, StableHLO and upstream MLIR dialects

USAGE: sdy-opt [flags] [<input file>]

Reads standard input if no file is given. Flags start with one or two dashes. Passes run in the
given order; options follow '=': --sdy-basic-propagate='keep-sharding-rules=true'.
"""


def help_text() -> str:
    """Return the text of `--help`: the flags, and how to learn about passes."""
    lines = [_OVERVIEW]
    for group in dict.fromkeys(flag.group for flag in FLAGS.values()):
        flags = [flag for flag in FLAGS.values() if flag.group == group]
        lines.append(f"{group}:\n")
        lines += [_entry(2, str(flag), flag.description) for flag in flags]
        lines.append("")
    lines.append(_PASSES.format(num_passes=len(passes()), num_pipelines=len(pipelines())))
    return "\n".join(lines)


def full_help_text() -> str:
    """Return the text of `--help-all`: also all passes and pipelines with their options."""
    lines = [help_text(), "Passes:\n"]
    for name, info in sorted(passes().items()):
        lines += _pass_entries(name, info)
    lines += ["", "Pipelines:\n"]
    for name, info in sorted(pipelines().items()):
        lines += _pipeline_entries(name, info)
    lines += ["", "Common passes of the MLIR host:\n"]
    lines += [_entry(2, f"--{name}", text) for name, text in WELL_KNOWN_HOST_PASSES.items()]
    return "\n".join(lines) + "\n"


def pass_help_text(name: str) -> str:
    """Return the text of `--help=PASS`: the description and the options of a pass.

    Raises:
        UsageError: there is no such pass or pipeline.
    """
    name = name.lstrip("-")
    if (info := passes().get(name)) is not None:
        lines = [*_pass_entries(name, info), "", _paragraphs(info.description)]
    elif (pipeline := pipelines().get(name)) is not None:
        lines = _pipeline_entries(name, pipeline)
    elif name in WELL_KNOWN_HOST_PASSES:
        lines = [_entry(2, f"--{name}", f"{WELL_KNOWN_HOST_PASSES[name]}; a pass of MLIR")]
    else:
        known = [*passes(), *pipelines(), *WELL_KNOWN_HOST_PASSES]
        advice = did_you_mean(name, known) or "; 'sdy-opt --list-passes' lists them"
        raise UsageError(error(f"no help on '{name}', which is no pass or pipeline{advice}"))
    return "\n".join(lines).rstrip("\n") + "\n"


def pass_list() -> str:
    """Return the text of `--list-passes`: a line with name and summary per pass."""
    return "".join(f"{name:<{_COLUMN - 1}} {text}\n" for name, text in all_summaries().items())


def all_summaries() -> dict[str, str]:
    """Return the summaries of passes, pipelines and common passes of the host by name."""
    of_pipelines = {name: info.summary for name, info in sorted(pipelines().items())}
    return {**pass_summaries(), **of_pipelines, **WELL_KNOWN_HOST_PASSES}


def _pass_entries(name: str, info: PassInfo) -> Iterator[str]:
    yield _entry(2, f"--{name}", f"{info.summary}{origin_text(info.release)}")
    yield from _option_entries(info.options)


def _pipeline_entries(name: str, info: PipelineInfo) -> Iterator[str]:
    yield _entry(2, f"--{name}", f"{info.summary}{origin_text(info.release)}")
    yield _entry(2, "", f"Runs {', '.join(info.default_steps())}.")
    yield from _option_entries(info.options)


def _paragraphs(text: str) -> str:
    """Return a description with the indentation of the help."""
    return textwrap.indent(textwrap.dedent(text).strip("\n"), "  ")


def _option_entries(options: Iterable[Option]) -> Iterator[str]:
    for option in options:
        default = option_text(option.default)
        shown = f" (default: {default})" if default else ""
        shown += origin_text(option.release)
        yield _entry(6, f"{option.name}=<{option.type}>", f"{option.description}{shown}")


def _entry(indent: int, left: str, right: str) -> str:
    start = f"{' ' * indent}{left}"
    if len(start) > _WIDTH:  # many choices: one a line
        start = start.replace("|", f"\n{'':<{indent + 2}}|")
    # Names of passes are not wrapped, so that they can be searched for.
    described = textwrap.wrap(right, _WIDTH - _COLUMN, break_on_hyphens=False)
    # The description of a long name starts on the next line.
    first = described.pop(0) if described and len(start) < _COLUMN else ""
    lines = [f"{start:<{_COLUMN}}{first}".rstrip()]
    return "\n".join(lines + [f"{'':<{_COLUMN}}{line}" for line in described])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool, as the `main` of `entry_point` does, and return the exit status."""
    complete_if_asked(completing_parser)
    tool = Tool("sdy-opt", argv)
    arguments = Arguments()

    def work() -> int:
        nonlocal arguments
        arguments = parse_arguments(tool.arguments)
        return _run(arguments, tool)

    return tool.run(
        work,
        shows_traceback=lambda: arguments.mlir_print_stacktrace_on_diagnostic,
        traceback_flag="--mlir-print-stacktrace-on-diagnostic",
    )


def _run(arguments: Arguments, tool: Tool) -> int:
    started = time.perf_counter()
    if arguments.help or arguments.list_passes:
        load_passes(arguments)
    for wanted, text in (
        (arguments.help_all, full_help_text),
        (arguments.help == "true", help_text),
        (arguments.help, lambda: pass_help_text(arguments.help)),
        (arguments.version, lambda: version_text("sdy-opt")),
        (arguments.list_passes, pass_list),
    ):
        if wanted:
            sys.stdout.write(text())
            return 0
    tool.guard(
        [] if arguments.show_dialects else [arguments.input],
        enabled=not arguments.no_guard,
        shows_dump=arguments.mlir_print_stacktrace_on_diagnostic,
        pass_reproducer=_pass_reproducer(arguments),
    )
    # Loads the MLIR host, which the answers above do without.
    from pyshardy.cli.driver import Driver  # noqa: PLC0415

    return Driver(arguments, tool, started).run()


def _pass_reproducer(arguments: Arguments) -> PassReproducer | None:
    file = arguments.mlir_pass_pipeline_crash_reproducer
    if not file or arguments.run_reproducer or arguments.split_input_file:
        return None
    from pyshardy.cli.crash_report import PassReproducer  # noqa: PLC0415

    flags = ",".join(map(str, arguments.passes))
    pipeline = arguments.pass_pipeline or f"builtin.module({flags})"
    flags = reproducing_flags(arguments, "mesh", "schedule")
    return PassReproducer(Path(file), pipeline, arguments.verify_each, flags)


# --- Completion by shells -------------------------------------------------------------------------


def completing_parser() -> argparse.ArgumentParser:
    """Return a parser with the flags of `sdy-opt`, its passes and their options."""
    names = [*passes(), *pipelines(), *WELL_KNOWN_HOST_PASSES]
    # argcomplete completes the values of flags that require one; passes take options or none.
    completed = last_word().partition("=")[0].lstrip("-")
    parser = argparse.ArgumentParser(prog="sdy-opt", add_help=False)
    parser.add_argument("input", nargs="?")
    for flag in FLAGS.values():
        if flag.type == "bool":
            parser.add_argument(flag.spelling, action="store_true", help=flag.description)
            continue
        choices = names if flag.metavar in ("pass", "pass,...") else flag.choices or None
        nargs = None if flag.alone is None or flag.name == completed else "?"
        action = parser.add_argument(
            flag.spelling, nargs=nargs, choices=choices, help=flag.description
        )
        if flag.name == "pass-pipeline":
            setattr(action, "completer", _pipelines)  # noqa: B010 (for argcomplete)
    for name in names:
        nargs = None if name == completed else "?"
        options = _option_values(name) if name == completed else None
        parser.add_argument(f"--{name}", nargs=nargs, choices=options)
    return parser


def _pipelines(prefix: str, **_: object) -> list[str]:
    """Return the pipelines that continue one with the name of a pass or an operation."""
    last = re.split(r"[(,]", prefix)[-1]
    begun = prefix.removesuffix(last)
    names = [*passes(), *pipelines(), *WELL_KNOWN_HOST_PASSES, "builtin.module(", "func.func("]
    return [f"{begun}{name}" for name in names if name.startswith(last)]


def _option_values(name: str) -> list[str] | None:
    """Return the options of a pass or pipeline with values to propose, if it has any."""
    info = passes().get(name) or pipelines().get(name)
    declared = info.options if info is not None else ()
    return [f"{each.name}={value}" for each in declared for value in _values(each.type)] or None


def _values(option: OptionType) -> Iterable[str]:
    """Return the values of an option to propose."""
    return option.choices or (("true", "false") if option.scalar == "bool" else ("",))


if __name__ == "__main__":
    sys.exit(main())
