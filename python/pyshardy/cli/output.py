# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The standard streams of tools, their output files, and the progress of long work."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.files import file_access, refusal_text, write_file
from mlir_sdy.stages import VERIFYING, current_depth, listening, stage

if TYPE_CHECKING:
    from typing_extensions import Buffer


class _Stream(io.FileIO):
    """A standard stream, which drops what it can't write.

    If the reader of a pipe has gone, as that of `sdy-run ... | head`, the tool goes on, so that its
    exit status says how the work ended. Other failures of standard output are reported once.
    """

    def __init__(self, stream: TextIO):
        super().__init__(stream.fileno(), "w", closefd=False)
        self.is_broken = False
        self._kept = stream  # closes its file when it is deleted

    def write(self, data: Buffer, /) -> int:
        """Write some bytes, and return their number.

        Raises:
            UsageError: standard output can't be written.
        """
        rest = memoryview(data).cast("B")
        count = rest.nbytes
        try:
            while rest and not self.is_broken:
                rest = rest[super().write(rest) :]
        except BrokenPipeError:
            self.is_broken = True
        except OSError as refusal:
            self.is_broken = True
            if self.fileno() == 1:
                message = refusal_text("write standard output", refusal)
                raise UsageError(error(message)) from None
        return count


class _Guarded(io.TextIOWrapper):
    """The text of a standard stream."""


def guard_standard_streams() -> None:
    """Make standard output and standard error report, or drop, what can't be written."""
    sys.stdout = _guarded(sys.stdout)
    sys.stderr = _guarded(sys.stderr)


def _guarded(stream: TextIO | None) -> TextIO | None:
    if stream is None:
        return None
    original: TextIO = stream
    if not isinstance(stream, io.TextIOWrapper) or isinstance(stream, _Guarded):
        return stream
    raw = _Stream(original)
    return _Guarded(
        raw if stream.write_through else io.BufferedWriter(raw),  # as Python's option -u
        stream.encoding,
        stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def write_output(file: str, data: bytes) -> None:
    """Write a file, or to standard output for "-".

    Raises:
        UsageError: it can't be written.
    """
    if file == "-":
        if sys.stdout is None:
            raise UsageError(error("cannot write standard output: it is closed"))
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    write_file(file, data)


def check_outputs(*files: str | None) -> None:
    """Check, before long work, that its files can be written, if any are given.

    Raises:
        UsageError: one can't.
    """
    for path in (Path(file) for file in files if file and file != "-"):
        is_new = not path.exists()
        if is_new or path.is_file() or path.is_dir():  # others may wait for a reader
            with file_access(f"write output file '{path}'"):
                path.open("ab").close()
            if is_new:
                path.unlink()


def write_report(file: str, text: str) -> None:
    """Write a file, and tell the user so; or to standard output for "-"."""
    write_output(file, text.encode())
    if file != "-":
        print(f"wrote {file}", file=sys.stderr)


def refuse_binary_on_terminal(form: str, file: str) -> None:
    """Raise a `UsageError` if a binary form would be written to a terminal."""
    if file == "-" and sys.stdout.isatty():
        message = f"refusing to write binary '{form}' to a terminal; use '-o FILE'"
        raise UsageError(error(message))


# --- Progress -------------------------------------------------------------------------------------


_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
"""The environment variables in which launchers of MPI jobs tell a process its number."""


def is_later_rank() -> bool:
    """Whether this is a process of an MPI job other than the first, which prints for all."""
    return any(os.environ.get(name, "0") != "0" for name in _RANKS)


@contextlib.contextmanager
def activity(what: str) -> Iterator[None]:
    """Report an activity and its stages: on a terminal, and to the guard.

    partitioning ... running pass 'sdy-insert-explicit-reshards' (stage 31, 4 s)
    """
    with stage(what):
        if sys.stderr is None or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console  # noqa: PLC0415 (slow)
        from rich.text import Text  # noqa: PLC0415

        started, count = time.monotonic(), 0

        def show(stages: tuple[str, ...]) -> None:
            nonlocal count
            if len(stages) > outer and stages[outer] != VERIFYING:
                count += 1
                seconds = time.monotonic() - started
                about = f"{stages[outer]} (stage {count}, {seconds:.0f} s)"
                status.update(Text(f"{what} ... {about}"))

        outer = current_depth()
        with Console(stderr=True).status(f"{what} ...") as status, listening(show):
            yield
