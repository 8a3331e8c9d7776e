# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How an unexpected Python exception is told to a user who didn't ask for its traceback."""

from __future__ import annotations


def describe(bug: Exception) -> str:
    """One line: the type of the exception and what it says.

    An exception that leaves a callback of the host, of `Operation.walk` for one, comes back as a
    RuntimeError whose text is the whole traceback; its last line is the exception that was raised.
    """
    text = str(bug).strip()
    if "Traceback (most recent call last)" in text:
        return text.rpartition("\n")[2]
    return f"{type(bug).__name__}: {text}"
