# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-opt`: an `mlir-opt` for programs in sdy, StableHLO and upstream's dialects.

    sdy-opt program.mlir --sdy-basic-propagate --canonicalize -o propagated.mlir
    sdy-opt --pass-pipeline='builtin.module(sdy-basic-propagate,func.func(cse))' < program.mlir

Exit status: 0 when all went well, else 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyshardy.cli.completion import complete_if_asked
from pyshardy.cli.help import full_help_text, help_text, pass_help_text, pass_list
from pyshardy.cli.opt_flags import Arguments, load_passes, parse_arguments, reproducing_flags
from pyshardy.cli.tool import Tool
from pyshardy.cli.version import version_text

if TYPE_CHECKING:
    from pyshardy.cli.crash_report import PassReproducer


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool, as the `main` of `entry_point` does, and return the exit status."""
    complete_if_asked(_completing_parser)
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


def _completing_parser() -> argparse.ArgumentParser:
    from pyshardy.cli.opt_completion import completing_parser  # noqa: PLC0415 (for shells)

    return completing_parser()


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


if __name__ == "__main__":
    sys.exit(main())
