# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locations in the user's source."""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import re
import textwrap
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from mlir_sdy.diagnostics import SourceLocation

_FRAME = re.compile(
    r'^ *File "(?P<file>[^"]*)", line (?P<line>\d+), in .*(?:\n(?! *File ").*)*', re.MULTILINE
)


def folder_of_torch() -> str:
    """Return the folder of PyTorch, whose frames aren't those of users."""
    import torch  # noqa: PLC0415

    return str(Path(torch.__file__).parent)


def folders_of_torch() -> tuple[str, ...]:
    """Return the folders of PyTorch and of SymPy, by which it computes with sizes."""
    folder = Path(folder_of_torch())
    return str(folder), str(folder.with_name("sympy"))


@contextlib.contextmanager
def shared_frames() -> Iterator[None]:
    """Make one frame for each line inside the `with` block, for all stack traces of PyTorch.

    PyTorch notes the stack of each operation that it traces, and looks each frame up in the source.
    """
    from torch.utils import _traceback  # noqa: PLC0415

    frame = cache(traceback.FrameSummary)

    def summary(frames: Sequence[Mapping[str, Any]], skip: int) -> traceback.StackSummary:
        known = (frame(one["filename"], one["line"], one["name"]) for one in frames[skip:][::-1])
        return traceback.StackSummary(known)

    if not hasattr(_traceback, "_extract_symbolized_tb"):
        yield
        return
    with mock.patch.object(_traceback, "_extract_symbolized_tb", summary):
        yield


def frames_outside(stack_trace: str, folder: str) -> str:
    """Return a stack trace without the frames in the files of a folder.

    The importer locates an operation at the innermost frame, which is inside PyTorch for a layer.
    If all frames are in the folder, the innermost one is kept.

    Args:
        stack_trace: frames, the innermost last, in Python's format.
        folder: the folder to exclude.
    """
    frames = list(_FRAME.finditer(stack_trace))
    excluded = folder, "<eval_with_key>"  # the file of graphs that PyTorch runs
    outside = [frame for frame in frames if not frame["file"].startswith(excluded)]
    return "\n".join(frame[0].rstrip("\n") for frame in outside or frames[-1:])


@dataclass(frozen=True, slots=True)
class Frame:
    """A position in the user's source.

    Attributes:
        place: the position.
        expression: the text that is evaluated there, in one line; None if it isn't known: Python
            knows it since 3.11.
    """

    place: SourceLocation
    expression: str | None


def frame_of(failure: BaseException, folders: tuple[str, ...]) -> Frame | None:
    """Return the innermost frame of an exception outside of some folders.

    Code that PyTorch has generated is left out: it has no source.
    """
    for frame in reversed(traceback.extract_tb(failure.__traceback__)):
        if frame.filename.startswith(folders) or frame.lineno is None:
            continue
        if not frame.filename.startswith("<") or frame.line:
            return Frame(SourceLocation(frame.filename, frame.lineno, 0), _expression(frame))
    return None


def _expression(frame: traceback.FrameSummary) -> str | None:
    """Return the text that a frame evaluates."""
    last, start, end = (getattr(frame, name, None) for name in ("end_lineno", "colno", "end_colno"))
    if frame.lineno is None or last is None or start is None or end is None:
        return None
    numbers = range(frame.lineno, last + 1)
    lines = [linecache.getline(frame.filename, number).encode() for number in numbers]
    lines[-1] = lines[-1][:end]  # columns count bytes
    lines[0] = lines[0][start:]
    return " ".join(b"".join(lines).decode(errors="replace").split()) or None


def place_of_result(function: Any, folders: tuple[str, ...]) -> SourceLocation | None:
    """Return the place of the only `return` of a function outside of some folders.

    With several, it is the first line of the function.
    """
    function = inspect.unwrap(function)
    try:
        lines, first = inspect.getsourcelines(function)
        (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
        file = inspect.getfile(function)
    except (OSError, TypeError, SyntaxError, ValueError):  # it has no source of its own
        return None
    if file.startswith(folders):
        return None
    inner = {
        each
        for nested in ast.walk(tree)
        if isinstance(nested, ast.FunctionDef | ast.Lambda) and nested is not tree
        for each in ast.walk(nested)
    }
    returns = [each for each in ast.walk(tree) if isinstance(each, ast.Return)]
    outer = [each.lineno for each in returns if each not in inner]
    line = outer[0] if len(outer) == 1 else 1
    return SourceLocation(file, first + line - 1, 0)


def place_in(stack_trace: str) -> SourceLocation | None:
    """Return the innermost frame of a stack trace."""
    frames = [*_FRAME.finditer(stack_trace)]
    return SourceLocation(frames[-1]["file"], int(frames[-1]["line"]), 0) if frames else None
