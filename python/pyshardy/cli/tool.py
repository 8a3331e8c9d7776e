# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of all command-line tools: reading files, diagnostics, exit status."""

from __future__ import annotations

import argparse
import gc
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from mlir_sdy.diagnostics import Diagnostic, SdyError, UsageError, error, nesting_error, redirect
from mlir_sdy.files import file_access
from mlir_sdy.host_build import describe_build
from mlir_sdy.suggest import did_you_mean
from pyshardy.cli.flags import HARDWARE_FORM, Flag, GuardFlags, flags_of
from pyshardy.cli.output import guard_standard_streams
from pyshardy.cli.source_files import SourceFiles
from pyshardy.pipeline.errors import describe

if TYPE_CHECKING:
    from pyshardy.cli.crash_report import CrashReport, PassReproducer
    from pyshardy.processes.crash import Crash


_INVALID_CHOICE = re.compile(r"invalid choice: '(?P<given>.*)' \(choose from (?P<choices>.*)\)")

Flags = TypeVar("Flags")


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
        if self._owns_process:
            guard_standard_streams()
            if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, signal.SIG_DFL):
                signal.signal(signal.SIGINT, signal.default_int_handler)
        self._crash_report: CrashReport | None = None
        self._standard_input: bytes | None = None
        self._frees_objects = True

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
                try:
                    status = work()
                except SystemExit as end:  # after --help
                    status = int(end.code or 0)
            if sys.stdout is not None:
                sys.stdout.flush()
        except SdyError as failure:
            for diagnostic in failure.diagnostics:
                self.show(diagnostic)
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
            if not self._frees_objects:
                if sys.stderr is not None:
                    sys.stderr.flush()
                os._exit(status)
            return status
        return 1

    def keep_objects(self) -> None:
        """Free nothing until the process ends, if it is the tool's own.

        What a short run makes lives as long as the run. Garbage collections would take a fifth of
        the time, and to free the objects of a large program at the end would take seconds.
        """
        if self._owns_process:
            gc.disable()
            self._frees_objects = False

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
        from pyshardy.cli.crash_report import CrashReport, continue_in_child  # noqa: PLC0415

        report = self._crash_report = CrashReport(
            self.name, self.arguments, inputs, pass_reproducer
        )

        def show(crash: Crash) -> None:
            if shows_dump:
                sys.stderr.write(crash.said)
            self.show(report.diagnostic(crash))

        continue_in_child(show)

    def start(self, flags: GuardFlags, *inputs: str) -> None:
        """Log and guard as the flags say; see `guard`."""
        if flags.verbose:
            self.enable_logging()
        self.guard(inputs, enabled=not flags.no_guard)

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
        with file_access(f"open input file '{file}'"):
            if file != "-":
                return Path(file).read_bytes()
            if sys.stdin is None:
                raise UsageError(error("cannot read standard input: it is closed"))
            if self._standard_input is not None:  # a tool may read its program again
                return self._standard_input
            data = self._standard_input = sys.stdin.buffer.read()
        if self._crash_report is not None:
            self._crash_report.keep_standard_input(data)
        return data

    def show(self, diagnostic: Diagnostic) -> None:
        """Print a diagnostic, with the source line if it has a location."""
        print(self.sources.render(diagnostic, self.name), file=sys.stderr)


def entry_point(
    name: str,
    parser: Callable[[], Parser[Flags]],
    work: Callable[[Flags, Tool], int],
) -> Callable[..., int]:
    """Return the `main` of a tool.

    It takes the arguments without the name of the program, and returns the exit status. By default,
    the arguments are those of the process, which is then guarded against crashes (see
    `Tool.guard`).

    Args:
        name: the name of the tool.
        parser: makes the parser of the command line.
        work: the work, given the flags; returns the exit status.
    """

    def main(argv: Sequence[str] | None = None) -> int:
        complete_if_asked(parser)
        tool = Tool(name, argv)
        return tool.run(lambda: work(parser().read(tool.arguments), tool))

    return main


class Parser(argparse.ArgumentParser, Generic[Flags]):
    """Reads the flags of a dataclass, and `--version`; reports invalid ones as diagnostics.

    Args:
        prog: the name of the tool.
        description: one or two sentences for the help.
        flags: the dataclass; see `flags`.

    Attributes:
        given: the values of a command line, by the fields of their flags.
    """

    def __init__(self, prog: str, description: str, flags: type[Flags]):
        super().__init__(prog=prog, description=description)
        self._flags = flags
        self.given: dict[str, object] = {}
        self.add_argument(
            "--version",
            action=_PrintVersion,
            nargs=0,
            default=argparse.SUPPRESS,
            help="print the versions of pyshardy, the MLIR host and Python",
        )
        for flag in flags_of(flags):
            self._add(flag)

    def _add(self, flag: Flag) -> None:
        about: dict[str, Any] = {"help": flag.description}
        if flag.type == "bool":
            about["action"] = "store_true"
        elif flag.type == "tuple[str, ...]":
            about |= {"action": "append", "default": [], "metavar": flag.metavar}
            about["type"] = flag.text
        else:
            read = flag.number if flag.type in ("int", "float") else str
            about |= {"type": read, "metavar": flag.metavar or None}
            about |= {"action": _StoreOnce} if flag.name else {}
            about |= {"choices": flag.choices} if flag.choices else {}
            about |= {"nargs": "?", "const": flag.alone} if flag.alone is not None else {}
            about |= {"default": flag.default} if flag.default is not MISSING else {}
        if flag.name:
            about["dest"] = flag.field
        elif flag.default is not MISSING:
            about["nargs"] = "?"
        action = self.add_argument(*(flag.spellings if flag.name else [flag.field]), **about)
        if flag.metavar == HARDWARE_FORM:
            setattr(action, "completer", hardware_completions)  # noqa: B010 (for argcomplete)

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

    def read(self, arguments: Sequence[str]) -> Flags:
        """Parse the command line; flags that don't exist are errors, with suggestions."""
        self.given.clear()
        parsed, unknown = self.parse_known_args(arguments)
        if unknown:
            flag = unknown[0].partition("=")[0]
            advice = did_you_mean(flag, self._option_string_actions)
            what = "flag" if flag.startswith("-") else "argument"
            self.error(f"unknown {what} '{unknown[0]}'{advice}")
        repeated = {each.field for each in flags_of(self._flags) if each.type.startswith("tuple")}
        values = {name: tuple(v) if name in repeated else v for name, v in vars(parsed).items()}
        return self._flags(**values)

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` with a suggestion that refers to `--help`."""
        if choice := _INVALID_CHOICE.search(message):
            message += did_you_mean(choice["given"], re.findall(r"[\w.-]+", choice["choices"]))
        raise UsageError(error(f"{message}; see {self.prog} --help"))


class _StoreOnce(argparse.Action):
    """Stores the value of a flag, unless it is empty, or the flag has another one already."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, *flag: str | None
    ) -> None:
        if values == "" and self.const is None:
            parser.error(f"argument {flag[0]}: expected one argument")
        if (before := parser.given.setdefault(self.dest, values)) != values:
            parser.error(f"argument {flag[0]}: given as '{before}' and as '{values}'")
        setattr(namespace, self.dest, values)


class _PrintVersion(argparse.Action):
    """Prints the versions, which take some milliseconds to determine, only on request."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(version_text(parser.prog))
        parser.exit()


def version_text(tool: str) -> str:
    """Return the text of `--version`: versions of the package, of the MLIR host, and of Python.

    Args:
        tool: the name of the tool.
    """
    # Together a fifth of the time of `--help`.
    import platform  # noqa: PLC0415
    from importlib.metadata import version  # noqa: PLC0415

    system = f"{platform.system()} {platform.machine()}"
    return (
        f"{tool}, pyshardy {version('pyshardy')}\n"
        f"MLIR host: {describe_build()}\n"
        f"Python {platform.python_version()}, {system}\n"
    )


# --- Completion by shells -------------------------------------------------------------------------


_REQUEST = "_ARGCOMPLETE"
_LINE = "COMP_LINE"


def complete_if_asked(parser: Callable[[], argparse.ArgumentParser]) -> None:
    """Print the completions and end the process, if the shell asks for them.

    Args:
        parser: makes the parser of the command line.
    """
    if _REQUEST not in os.environ:
        return
    from argcomplete.finders import CompletionFinder  # noqa: PLC0415 (an optional package)

    class Finder(CompletionFinder):
        """Completes `--flag='value` from the quote on, as bash replaces it."""

        def quote_completions(
            self, completions: list[str], cword_prequote: str, last_wordbreak_pos: int | None
        ) -> list[str]:
            flag, equals, rest = last_word().partition("=")
            if equals and rest[:1] == cword_prequote != "":
                completions = [each.removeprefix(f"{flag}=") for each in completions]
            return super().quote_completions(completions, cword_prequote, last_wordbreak_pos)

    Finder()(parser())


def hardware_completions(prefix: str, **_: object) -> list[str]:
    """Return the presets of hardware and the TOML files that begin with a prefix."""
    from glob import escape, glob  # noqa: PLC0415

    from pyshardy.cost.hardware import presets  # noqa: PLC0415

    found = [each for each in presets() if each.startswith(prefix)]
    return [*found, *glob(f"{escape(prefix)}*.toml")]


def last_word() -> str:
    """Return the last word of the command line to complete."""
    return os.environ.get(_LINE, "").rpartition(" ")[2]
