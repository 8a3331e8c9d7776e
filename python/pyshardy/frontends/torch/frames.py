# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locations in the user's source."""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import os
import re
import sys
import textwrap
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from mlir_sdy.diagnostics import SourceLocation
from pyshardy.frontends.torch.replacing import replaced_attribute

_FRAME = re.compile(
    r'^ *File "(?P<file>[^"]*)", line (?P<line>\d+), in .*(?:\n(?! *File ").*)*', re.MULTILINE
)

OWN_FOLDER = f"{Path(__file__).parents[2]}{os.sep}"
"""The folder of pyshardy, with a separator behind."""


def folder_of_torch() -> str:
    """Return the folder of PyTorch, whose frames aren't those of users, with a separator behind."""
    import torch  # noqa: PLC0415

    return f"{Path(torch.__file__).parent}{os.sep}"


def folders_of_torch() -> tuple[str, ...]:
    """Return the folders of PyTorch and of SymPy, by which it computes with sizes."""
    folder = folder_of_torch()
    return folder, f"{Path(folder).with_name('sympy')}{os.sep}"


@contextlib.contextmanager
def light_stacks(outermost: CodeType) -> Iterator[None]:
    """Read the stacks of Python inside the `with` block in a faster way than PyTorch does.

    PyTorch notes the stack of each operation that it traces. It looks up the line of each frame in
    a table of its code, and makes a new object of it. Here there is one object for all stacks with
    a frame at the same instruction. The frames of PyTorch and pyshardy are left out, apart from
    those of `forward`, at which PyTorch begins a stack. All other frames are kept, while PyTorch
    keeps those of `forward` only: operations are located in the functions that `forward` calls.

    Args:
        outermost: the code that the operations of the module are called by; it and its callers are
            left out.
    """
    from torch.fx.proxy import TracerBase  # noqa: PLC0415
    from torch.utils._traceback import CapturedTraceback  # noqa: PLC0415

    original = CapturedTraceback.extract
    folder = folder_of_torch()
    known: dict[tuple[int, int], tuple[CodeType, traceback.FrameSummary | None]] = {}

    def described(frame: FrameType) -> tuple[CodeType, traceback.FrameSummary | None]:
        """Return the code, which lives on so that its identity isn't reused, and the frame."""
        code = frame.f_code
        name = code.co_name
        file = code.co_filename
        if file.startswith(OWN_FOLDER) or (name != "forward" and file.startswith(folder)):
            return code, None
        return code, traceback.FrameSummary(file, frame.f_lineno, name)

    class Stack(CapturedTraceback):
        """A stack whose frames are known."""

        __slots__ = ("frames",)

        def __init__(self, frames: traceback.StackSummary):
            super().__init__(None)
            self.frames = frames

        def summary(self) -> traceback.StackSummary:
            """Return the frames, the innermost last."""
            return self.frames

    def extract(*, script: bool = False, cpp: bool = False, skip: int = 0) -> CapturedTraceback:
        if script or cpp:
            return original(script=script, cpp=cpp, skip=skip)
        frames = traceback.StackSummary()
        frame: FrameType | None = sys._getframe(1 + skip)
        while frame is not None and (code := frame.f_code) is not outermost:
            key = id(code), frame.f_lasti
            entry = known.get(key)
            if entry is None:
                entry = known[key] = described(frame)
            if entry[1] is not None:
                frames.append(entry[1])
            frame = frame.f_back
        frames.reverse()
        return Stack(frames)

    def filtered(_: TracerBase, frames: traceback.StackSummary) -> traceback.StackSummary:
        return frames

    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced_attribute(CapturedTraceback, "extract", staticmethod(extract)))
        if hasattr(TracerBase, (name := "_filter_traceback_frames")):  # since PyTorch 2.8
            stack.enter_context(replaced_attribute(TracerBase, name, filtered))
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
    condition = _condition(frame.filename, (frame.lineno, start), (last, end))
    if condition is not None:
        return condition
    numbers = range(frame.lineno, last + 1)
    lines = [linecache.getline(frame.filename, number).encode() for number in numbers]
    lines[-1] = lines[-1][:end]  # columns count bytes
    lines[0] = lines[0][start:]
    return " ".join(b"".join(lines).decode(errors="replace").split()) or None


def _condition(file: str, start: tuple[int, int], end: tuple[int, int]) -> str | None:
    """Return the condition of the branch or the head of the loop at a place.

    Python is vague about them: the place of a branch on a name, `if flag:`, is the whole statement,
    as that of `for x in rows:` is, and the place of `if a < b and flag:` may be the comparison.
    The result is None for all other places.

    Args:
        file: the file.
        start: the line and the column where the place begins.
        end: where it ends.
    """
    source = "".join(linecache.getlines(file))
    try:
        nodes = [*ast.walk(ast.parse(source))]
    except (SyntaxError, ValueError):  # a cell with commands of IPython, say
        return None
    for node in nodes:
        if not isinstance(node, ast.If | ast.While | ast.For):
            continue
        test = node.iter if isinstance(node, ast.For) else node.test
        first = test.lineno, test.col_offset
        last = test.end_lineno or 0, test.end_col_offset or 0
        is_part = isinstance(test, ast.BoolOp) and first <= start and end <= last
        if is_part or (start == (node.lineno, node.col_offset) and end > last):
            head = f"for {ast.unparse(node.target)} in " if isinstance(node, ast.For) else ""
            return head + " ".join((ast.get_source_segment(source, test) or "").split())
    return None


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
