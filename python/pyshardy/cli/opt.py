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
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyshardy.cli.help import full_help_text, help_text, pass_help_text, pass_list
from pyshardy.cli.opt_flags import FLAGS, Arguments, load_passes, parse_arguments, reproducing_flags
from pyshardy.cli.tool import Tool, complete_if_asked, last_word, version_text
from pyshardy.pipeline import passes, pipelines
from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
from pyshardy.pipeline.options import OptionType

if TYPE_CHECKING:
    from pyshardy.cli.crash_report import PassReproducer


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
