# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the command-line tools do alike: read a file, show diagnostics, fail with status 1."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from mlir_sdy.diagnostics import Diagnostic, SdyError, UsageError, error, redirect
from pyshardy.cli.source_files import SourceFiles
from pyshardy.pipeline.internal_errors import describe


class Tool:
    """One run of a tool.

    Attributes:
        name: what messages without a place in a file begin with.
        sources: the texts that diagnostics point into.
    """

    def __init__(self, name: str):
        self.name = name
        self.sources = SourceFiles()

    def run(
        self,
        work: Callable[[], int],
        *,
        shows_traceback: Callable[[], bool] = lambda: False,
        traceback_flag: str = "",
    ) -> int:
        """Do the tool's work and give its exit status; 1 after a failure, which is shown.

        Args:
            work: does it. Diagnostics that it emits, or raises as `SdyError`, are shown.
            shows_traceback: whether the user wants to see where a bug is.
            traceback_flag: the flag that asks for it, if the tool has one.
        """
        try:
            with redirect(self.show):
                status = work()
            sys.stdout.flush()
        except SdyError as failure:
            for diagnostic in failure.diagnostics:
                self.show(diagnostic)
        except BrokenPipeError:
            # The reader has gone. Python flushes once more at exit, which must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            return 130
        except Exception as bug:
            print(f"{self.name}: internal error: {describe(bug)}", file=sys.stderr)
            if shows_traceback():
                traceback.print_exc()
            elif traceback_flag:
                print(f"{self.name}: {traceback_flag} shows where", file=sys.stderr)
        else:
            return status
        return 1

    def show(self, diagnostic: Diagnostic) -> None:
        """Print a diagnostic with the source line that it is about, if it has a place."""
        if diagnostic.location is not None:
            text = self.sources.render(diagnostic)
        else:
            text = f"{self.name}: {diagnostic.severity.value}: {diagnostic.message}"
        print(text, file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """Reports a bad command line as all other errors are reported, and knows `--version`."""

    def __init__(self, prog: str, description: str):
        super().__init__(prog=prog, description=description)
        self.add_argument(
            "--version", action=_PrintVersion, nargs=0, help="print the versions of all parts"
        )

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` that also says where help is."""
        raise UsageError(error(f"{message}; see {self.prog} --help"))


class _PrintVersion(argparse.Action):
    """Finds the versions out only when they are asked for, which takes some milliseconds."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from pyshardy.cli.version import version_text  # noqa: PLC0415

        sys.stdout.write(version_text(parser.prog))
        parser.exit()


def read_input(file: str) -> bytes:
    """The content of a file, or of standard input for "-".

    Raises:
        UsageError: the file can't be read.
    """
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as refusal:
        reason = refusal.strerror or refusal
        raise UsageError(error(f"cannot open input file '{file}': {reason}")) from None
