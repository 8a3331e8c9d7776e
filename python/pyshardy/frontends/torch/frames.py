# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in the user's source an operation comes from."""

from __future__ import annotations

import re
import traceback

from mlir_sdy.diagnostics import SourceLocation

_FRAME = re.compile(
    r'^ *File "(?P<file>[^"]*)", line \d+, in .*(?:\n(?! *File ").*)*', re.MULTILINE
)


def frames_outside(stack_trace: str, folder: str) -> str:
    """A stack trace without the frames in the files of a folder.

    The innermost frame is where the importer locates an operation, and that of a layer is in
    PyTorch itself. If all frames are there, the innermost stays.

    Args:
        stack_trace: frames, the innermost last, as Python prints them.
        folder: the folder to leave out.
    """
    frames = list(_FRAME.finditer(stack_trace))
    outside = [frame for frame in frames if not frame["file"].startswith(folder)]
    return "\n".join(frame[0].rstrip("\n") for frame in outside or frames[-1:])


def place_of(failure: BaseException, folders: tuple[str, ...]) -> SourceLocation | None:
    """The innermost place, outside of some folders, where an exception came by."""
    for frame in reversed(traceback.extract_tb(failure.__traceback__)):
        if not frame.filename.startswith(folders) and frame.lineno is not None:
            return SourceLocation(frame.filename, frame.lineno, 0)
    return None
