# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reason that a library in C++ gives on standard error before it ends the process."""

from __future__ import annotations

import re

_LAST_WORDS = re.compile(
    r"^(?:LLVM ERROR: "  # llvm::report_fatal_error
    r"|F\d{4} \S+ +\d+ [^\]]*\] "  # a fatal error in Abseil's log
    r"|  what\(\):  "  # an uncaught C++ exception
    r"|Fatal Python error: (?!Segmentation fault|Aborted|Bus error|Floating|Illegal)"
    r"|(?=[^\n]*: Assertion `))"
    r"(.*)$",
    re.MULTILINE,
)


def last_words(said: str) -> str | None:
    """The reason in what a process has written to standard error; None if there is none."""
    match = _LAST_WORDS.search(said)
    return match[1].strip() if match else None
