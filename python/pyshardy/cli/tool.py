# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of all command-line tools: reading files, diagnostics, exit status."""

from __future__ import annotations

import argparse
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mlir_sdy.diagnostics import (
    Diagnostic,
    SdyError,
    UsageError,
    error,
    nesting_error,
    redirect,
)
from mlir_sdy.suggest import did_you_mean
from pyshardy.cli.completion import complete_if_asked
from pyshardy.cli.source_files import SourceFiles
from pyshardy.pipeline.errors import describe

if TYPE_CHECKING:
    from pyshardy.cli.crash_report import CrashReport, PassReproducer
    from pyshardy.guard.crash import Crash

_INVALID_CHOICE = re.compile(r"invalid choice: '(?P<given>.*)' \(choose from (?P<choices>.*)\)")

NO_GUARD = "run in a single process, without recovery from crashes of the MLIR host; for debuggers"
"""The description of the flag `--no-guard`, which all tools have."""

VERBOSE = "log files, passes with their times and numbers of operations, and programs"
SCHEDULE_FIRST = "propagate by the tactics of this TOML file before the passes"
SCHEDULE = "apply the tactics of this TOML file, which replaces propagation"
MESH = "mesh to use instead of the program's: data:4,model:2"
MESH_FORM = "[NAME=]AXIS:SIZE,..."
LOAD_RULES = "load sharding rules from this Python file"
STRICT_RULES = "report operations without a sharding rule as errors"
REMARKS = "report operations that cannot be computed on shards, and their cost"


class Tool:
    """A run of a tool.

    Args:
        name: the prefix of messages without a location.
        argv: the arguments, for a caller in the same process; None for those of the process, which
            is then the tool's own.

    Attributes:
        name: see above.
        arguments: the command line without the name of the tool.
        sources: the texts that diagnostics point into.
    """

    def __init__(self, name: str, argv: Sequence[str] | None = None):
        self.name = name
        self.arguments = list(sys.argv[1:] if argv is None else argv)
        self.sources = SourceFiles()
        self._owns_process = argv is None
        self._crash_report: CrashReport | None = None

    def run(
        self,
        work: Callable[[], int],
        *,
        shows_traceback: Callable[[], bool] = lambda: False,
        traceback_flag: str = "",
    ) -> int:
        """Run the tool and return its exit status, 1 after a failure, which is reported.

        Args:
            work: the work. Diagnostics that it emits, or raises as `SdyError`, are printed.
            shows_traceback: whether to print the traceback of a bug.
            traceback_flag: the flag that enables it, if the tool has one.
        """
        try:
            with redirect(self.show):
                status = work()
            if sys.stdout is not None:
                sys.stdout.flush()
        except SdyError as failure:
            for diagnostic in failure.diagnostics:
                self.show(diagnostic)
        except BrokenPipeError:
            # The reader has gone. Python flushes once more at exit, which must not fail again.
            if sys.stdout is not None:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            return 130
        except RecursionError:
            self.show(nesting_error())
        except Exception as bug:
            print(f"{self.name}: internal error: {describe(bug)}", file=sys.stderr)
            if shows_traceback():
                traceback.print_exc()
            elif traceback_flag:
                print(f"{self.name}: use {traceback_flag} for a traceback", file=sys.stderr)
        else:
            return status
        return 1

    def guard(
        self,
        inputs: Sequence[str],
        *,
        enabled: bool,
        shows_dump: bool = False,
        pass_reproducer: PassReproducer | None = None,
    ) -> None:
        """Run the rest in a child process, to report crashes of the host.

        Call this before the host is loaded. It forks if this process is the tool's own and can
        fork; the parent waits and exits with the status of the child.

        Args:
            inputs: the input files of the command line, which a reproducer needs.
            enabled: whether to fork.
            shows_dump: whether to show the stack dump of a crash.
            pass_reproducer: the reproducer to write when a pass crashes.
        """
        if not enabled or not self._owns_process or not hasattr(os, "fork"):
            return
        # --help does without.
        from pyshardy.cli.crash_report import CrashReport  # noqa: PLC0415
        from pyshardy.cli.supervisor import continue_in_child  # noqa: PLC0415

        report = self._crash_report = CrashReport(
            self.name, self.arguments, inputs, pass_reproducer
        )

        def show(crash: Crash) -> None:
            if shows_dump:
                sys.stderr.write(crash.said)
            self.show(report.diagnostic(crash))

        continue_in_child(show)

    def enable_logging(self) -> None:
        """Print what the modules of the project log."""
        import logging  # noqa: PLC0415 (for --verbose only)

        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        for name in ("pyshardy", "mlir_sdy"):
            logger = logging.getLogger(name)
            logger.setLevel(logging.INFO)
            logger.handlers = [handler]

    def read_input(self, file: str) -> bytes:
        """Return the contents of a file, or of standard input for "-".

        Raises:
            UsageError: the file can't be read.
        """
        try:
            if file != "-":
                return Path(file).read_bytes()
            if sys.stdin is None:
                raise UsageError(error("cannot read standard input: it is closed"))
            data = sys.stdin.buffer.read()
        except OSError as refusal:
            reason = refusal.strerror or refusal
            raise UsageError(error(f"cannot open input file '{file}': {reason}")) from None
        if self._crash_report is not None:
            self._crash_report.keep_standard_input(data)
        return data

    def show(self, diagnostic: Diagnostic) -> None:
        """Print a diagnostic, with the source line if it has a location."""
        print(self.sources.render(diagnostic, self.name), file=sys.stderr)


def entry_point(
    name: str,
    parser: Callable[[], argparse.ArgumentParser],
    work: Callable[[argparse.Namespace, Tool], int],
) -> Callable[..., int]:
    """Return the `main` of a tool.

    It takes the arguments without the name of the program, and returns the exit status. By default,
    the arguments are those of the process, which is then guarded against crashes (see
    `Tool.guard`).

    Args:
        name: the name of the tool.
        parser: makes the parser of the command line.
        work: the work, given the parsed arguments; returns the exit status.
    """

    def main(argv: Sequence[str] | None = None) -> int:
        complete_if_asked(parser)
        tool = Tool(name, argv)
        return tool.run(lambda: work(parser().parse_args(tool.arguments), tool))

    return main


class Parser(argparse.ArgumentParser):
    """Reports invalid command lines as diagnostics, and adds `--version`."""

    def __init__(self, prog: str, description: str):
        super().__init__(prog=prog, description=description)
        self.add_argument(
            "--version",
            action=_PrintVersion,
            nargs=0,
            help="print the versions of pyshardy, the MLIR host and Python",
        )

    def add_mesh_flag(self) -> None:
        """Add `--mesh`."""
        self.add_argument("--mesh", metavar=MESH_FORM, help=MESH)

    def add_schedule_flag(self) -> None:
        """Add `--schedule`."""
        self.add_argument("--schedule", metavar="FILE.toml", help=SCHEDULE)

    def add_rule_flags(self) -> None:
        """Add the flags of tools that propagate shardings."""
        self.add_argument(
            "--load-rules", action="append", default=[], metavar="FILE", help=LOAD_RULES
        )
        self.add_argument("--strict-rules", action="store_true", help=STRICT_RULES)
        self.add_argument("--remarks", action="store_true", help=REMARKS)

    def add_guard_flag(self) -> None:
        """Add `--verbose` and `--no-guard`."""
        self.add_argument("-v", "--verbose", action="store_true", help=VERBOSE)
        self.add_argument("--no-guard", action="store_true", help=NO_GUARD)

    def described(self) -> Iterator[tuple[str, str]]:
        """Yield the spelling and the description of each argument and flag."""
        for action in self._actions:
            value = action.metavar if isinstance(action.metavar, str) else ""
            if not value and action.choices is not None:
                value = "{" + ",".join(map(str, action.choices)) + "}"
            names = ", ".join(action.option_strings) or value or action.dest
            if action.option_strings and value:
                equals = "=" if names.startswith("--") else " "
                names += f"[={value}]" if action.nargs == "?" else f"{equals}{value}"
            described = {**vars(action), "prog": self.prog}
            yield names, (action.help or "") % described

    def parse_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Sequence[str], namespace: None = None
    ) -> argparse.Namespace:
        """Parse the command line; flags that don't exist are errors, with suggestions."""
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            flag = unknown[0].partition("=")[0]
            advice = did_you_mean(flag, self._option_string_actions)
            what = "flag" if flag.startswith("-") else "argument"
            self.error(f"unknown {what} '{unknown[0]}'{advice}")
        return parsed

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` with a suggestion that refers to `--help`."""
        if choice := _INVALID_CHOICE.search(message):
            message += did_you_mean(choice["given"], re.findall(r"[\w.-]+", choice["choices"]))
        raise UsageError(error(f"{message}; see {self.prog} --help"))


class _PrintVersion(argparse.Action):
    """Prints the versions, which take some milliseconds to determine, only on request."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from pyshardy.cli.version import version_text  # noqa: PLC0415

        sys.stdout.write(version_text(parser.prog))
        parser.exit()
