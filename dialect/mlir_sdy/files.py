# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Access to files of users, whose refusals by the system become errors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from mlir_sdy.diagnostics import SourceLocation, UsageError, error


def refusal_text(action: str, refusal: OSError) -> str:
    """Return the message that the system refuses an action, such as "read the plan 'plan.json'"."""
    return f"cannot {action}: {refusal.strerror or refusal}"


@contextlib.contextmanager
def file_access(action: str, place: SourceLocation | None = None) -> Iterator[None]:
    """Report a file that can't be read or written.

    Args:
        action: what the block does, as in `refusal_text`.
        place: the location of the error.

    Raises:
        UsageError: the system refuses it, or what is read as text isn't UTF-8.
    """
    try:
        yield
    except OSError as refusal:
        raise UsageError(error(refusal_text(action, refusal), place)) from None
    except UnicodeDecodeError:
        raise UsageError(error(f"cannot {action}: it is not UTF-8 text", place)) from None


def read_text(path: str | PathLike[str], content: str) -> str:
    """Return the text of a file.

    Args:
        path: the file.
        content: its content in the error, such as "the contract".

    Raises:
        UsageError: it can't be read.
    """
    with file_access(f"read {content} '{path}'"):
        return Path(path).read_text(encoding="utf-8")


def write_file(path: str | PathLike[str], data: str | bytes) -> None:
    """Write an output file, text in UTF-8.

    Raises:
        UsageError: it can't be written.
    """
    with file_access(f"write output file '{path}'"):
        Path(path).write_bytes(data.encode() if isinstance(data, str) else data)
