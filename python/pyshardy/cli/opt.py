# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-opt`: an `mlir-opt` for programs in sdy, StableHLO and upstream's dialects.

    sdy-opt program.mlir --sdy-basic-propagate --canonicalize -o propagated.mlir
    sdy-opt --pass-pipeline='builtin.module(sdy-basic-propagate,func.func(cse))' < program.mlir

Exit status: 0 when all went well, else 1.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from mlir_sdy.diagnostics import UsageError
from pyshardy.cli.flags import Arguments, parse_arguments
from pyshardy.cli.help import help_text, pass_list, version_text
from pyshardy.cli.source_files import SourceFiles
from pyshardy.pipeline.internal_errors import describe


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool.

    Args:
        argv: the arguments without the name of the program; those of the process by default.

    Returns:
        The exit status.
    """
    sources = SourceFiles()
    arguments = Arguments()
    try:
        arguments = parse_arguments(sys.argv[1:] if argv is None else argv)
        status = _run(arguments, sources)
        sys.stdout.flush()
    except UsageError as failure:
        for diagnostic in failure.diagnostics:
            located = diagnostic.location is not None
            text = sources.render(diagnostic) if located else f"error: {diagnostic.message}"
            print(text if located else f"sdy-opt: {text}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader has gone. Python flushes once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as bug:
        print(f"sdy-opt: internal error: {describe(bug)}", file=sys.stderr)
        if arguments.mlir_print_stacktrace_on_diagnostic:
            traceback.print_exc()
        else:
            print("sdy-opt: --mlir-print-stacktrace-on-diagnostic shows where", file=sys.stderr)
        return 1
    return status


def _run(arguments: Arguments, sources: SourceFiles) -> int:
    for wanted, text in (
        (arguments.help, help_text),
        (arguments.version, version_text),
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
