# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion of command lines by shells, with the package argcomplete.

    eval "$(register-python-argcomplete sdy-opt)"

The shell then runs the tool with an environment variable that asks for completions.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

_REQUEST = "_ARGCOMPLETE"
_LINE = "COMP_LINE"


def complete_if_asked(parser: Callable[[], argparse.ArgumentParser]) -> None:
    """Print the completions and end the process, if the shell asks for them.

    Args:
        parser: makes the parser of the command line.
    """
    if _REQUEST not in os.environ:
        return
    import argcomplete  # noqa: PLC0415 (an optional package)

    argcomplete.autocomplete(parser())


def last_word() -> str:
    """Return the last word of the command line to complete."""
    return os.environ.get(_LINE, "").rpartition(" ")[2]
