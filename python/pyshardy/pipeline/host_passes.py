# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C++ passes of the host: their anchors, and checks of their options.

The host provides no list of its passes, only its pipeline parser: each query is a small pipeline,
and the answer is read from the error.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy import host
from mlir_sdy.diagnostics import UsageError, error
from pyshardy.pipeline.syntax import PassUse

_UNKNOWN = re.compile(r"does not refer to a registered pass")
_RESTRICTED = re.compile(r"restricted to '([^']+)' on a PassManager")
_NO_SUCH_OPTION = re.compile(r"no such option (\S+)")
_BAD_VALUE = re.compile(r"for the --?(\S+) option: (.*)")


@dataclass(frozen=True, slots=True)
class _Answer:
    """The host's errors for a pass in a pipeline of one anchor; all empty if it is accepted."""

    unknown: bool = False
    restricted_to: str = ""
    reason: str = ""
    wrong_option: str = ""


def knows(name: str) -> bool:
    """Whether the host has a pass or a named pipeline of that name."""
    return not _ask("any", name).unknown


def anchor_for(use: PassUse, anchor: str) -> str:
    """Return the operation that `use` must run on: `anchor` if the pass may run on it.

    Raises:
        UsageError: the host refuses the options.
    """
    answer = _ask(anchor, str(use))
    if answer.restricted_to:
        return answer.restricted_to
    if answer.reason:
        location = use.location
        for option in use.options:
            if option.name == answer.wrong_option:
                location = option.location
        raise UsageError(error(f"pass '{use.name}': {answer.reason}", location))
    return anchor


@functools.cache
def _ask(anchor: str, element: str) -> _Answer:
    # The reason why a value is refused is printed, not in the exception.
    with host.ir.Context(load_on_create_dialects=[]), _captured_stderr() as printed:
        try:
            host.passmanager.PassManager.parse(f"{anchor}({element})")
        except ValueError as refusal:
            said = str(refusal)
        else:
            return _Answer()
    if _UNKNOWN.search(said):
        return _Answer(unknown=True, reason="unknown pass")
    if restricted := _RESTRICTED.search(said):
        return _Answer(restricted_to=restricted[1])
    if no_such := _NO_SUCH_OPTION.search(said):
        return _Answer(reason=f"no option '{no_such[1]}'", wrong_option=no_such[1])
    if bad_value := _BAD_VALUE.search("".join(printed)):
        reason = bad_value[2].removesuffix("!").rstrip()
        return _Answer(reason=f"option '{bad_value[1]}': {reason}", wrong_option=bad_value[1])
    return _Answer(reason=" ".join(said.split()))


@contextlib.contextmanager
def _captured_stderr() -> Iterator[list[str]]:
    """Capture the output of C++ code to standard error inside the `with` block."""
    printed: list[str] = []
    if sys.stderr is not None:
        sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        saved = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield printed
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            printed.append(file.read().decode(errors="replace"))
