# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-opt`: an `mlir-opt` for programs in sdy, StableHLO and upstream's dialects.

    sdy-opt program.mlir --sdy-basic-propagate --canonicalize -o propagated.mlir
    sdy-opt --pass-pipeline='builtin.module(sdy-basic-propagate,func.func(cse))' < program.mlir

Exit status: 0 when all went well, else 1.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pyshardy.cli.flags import Arguments, parse_arguments
from pyshardy.cli.help import help_text, pass_list
from pyshardy.cli.source_files import SourceFiles
from pyshardy.cli.tool import Tool
from pyshardy.cli.version import version_text


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool.

    Args:
        argv: the arguments without the name of the program; those of the process by default.

    Returns:
        The exit status.
    """
    tool = Tool("sdy-opt")
    arguments = Arguments()

    def work() -> int:
        nonlocal arguments
        arguments = parse_arguments(sys.argv[1:] if argv is None else argv)
        return _run(arguments, tool.sources)

    return tool.run(
        work,
        shows_traceback=lambda: arguments.mlir_print_stacktrace_on_diagnostic,
        traceback_flag="--mlir-print-stacktrace-on-diagnostic",
    )


def _run(arguments: Arguments, sources: SourceFiles) -> int:
    for wanted, text in (
        (arguments.help, help_text),
        (arguments.version, lambda: version_text("sdy-opt")),
        (arguments.list_passes, pass_list),
    ):
        if wanted:
            sys.stdout.write(text())
            return 0
    # Loads the MLIR host, which the answers above do without.
    from pyshardy.cli.driver import Driver  # noqa: PLC0415

    return Driver(arguments, sources).run()


if __name__ == "__main__":
    sys.exit(main())
