# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python files of users that a tool or a function runs, such as sharding rules and passes."""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from types import ModuleType

import mlir_sdy
from mlir_sdy.diagnostics import Diagnostic, SdyError, SourceLocation, UsageError, error, note
from mlir_sdy.files import file_access

RAISED_HERE = "it was raised here"
"""The note on the line that raised an exception."""

_FOLDERS = (
    "<",
    str(Path(__file__).parents[1]),
    str(Path(mlir_sdy.__file__).parent),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib")),
)
_INSTALLED = {"site-packages", "dist-packages"}
_FRAME = re.compile(r'^ *File "(.*)", line (\d+)', re.MULTILINE)


def run_user_file(path: str | PathLike[str], content: str) -> ModuleType:
    """Run a Python file, and return its names as a module.

    Args:
        path: the file.
        content: its content in messages, such as "sharding rules".

    Raises:
        UsageError: the file can't be read, is not valid Python, or raises an exception; the
            diagnostic has the line.
    """
    filename = str(path)
    with file_access(f"read the {content} in '{filename}'"):
        source = Path(path).read_bytes()
    try:
        code = compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError as failure:
        place = SourceLocation(filename, failure.lineno or 0, failure.offset or 0)
        message = f"the file of {content} is not valid Python: {failure.msg}"
        raise UsageError(error(message, place)) from None
    except ValueError as failure:
        message = f"the file of {content} is not valid Python: {failure}"
        raise UsageError(error(message, SourceLocation(filename, 0, 0))) from None
    module = ModuleType(Path(path).stem, f"A file of {content}.")
    module.__file__ = filename
    try:
        exec(code, vars(module))
    except SdyError:
        raise
    except (Exception, SystemExit) as failure:
        what = f"{type(failure).__name__}: {failure}".rstrip(": ")
        message = f"running the file of {content} failed: {what}"
        places = [place for place in _lines_of(failure) if place.filename == filename]
        place = places[-1] if places else SourceLocation(filename, 0, 0)
        raise UsageError(error(message, place)) from failure
    return module


def is_user_file(path: str) -> bool:
    """Whether a file of code belongs neither to this project, nor to Python, nor to a package."""
    return not path.startswith(_FOLDERS) and not is_installed(path)


def is_installed(path: str) -> bool:
    """Whether a file belongs to an installed package."""
    return not _INSTALLED.isdisjoint(Path(path).parts)


def raised_at(failure: BaseException) -> list[Diagnostic]:
    """Return a note on the line of a user's own code that raised an exception, if there is one.

    Code of this project, of the standard library and of installed packages is left out.
    """
    places = [place for place in _lines_of(failure) if is_user_file(place.filename)]
    return [note(RAISED_HERE, places[-1])] if places else []


def _lines_of(failure: BaseException) -> Iterator[SourceLocation]:
    """Yield the lines at which an exception passed, the innermost last."""
    for frame in traceback.extract_tb(failure.__traceback__):
        yield SourceLocation(frame.filename, frame.lineno or 0, 0)
    # The text of an exception in a callback of the host has those inside of the callback.
    for filename, line in _FRAME.findall(str(failure)):
        yield SourceLocation(filename, int(line), 0)
