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
    from argcomplete.finders import CompletionFinder  # noqa: PLC0415 (an optional package)

    class Finder(CompletionFinder):
        """Completes `--flag='value` from the quote on, as bash replaces it."""

        def quote_completions(
            self, completions: list[str], cword_prequote: str, last_wordbreak_pos: int | None
        ) -> list[str]:
            flag, equals, rest = last_word().partition("=")
            if equals and rest[:1] == cword_prequote != "":
                completions = [each.removeprefix(f"{flag}=") for each in completions]
            return super().quote_completions(completions, cword_prequote, last_wordbreak_pos)

    Finder()(parser())


def hardware_completions(prefix: str, **_: object) -> list[str]:
    """Return the presets of hardware and the TOML files that begin with a prefix."""
    from glob import escape, glob  # noqa: PLC0415

    from pyshardy.cost.hardware import presets  # noqa: PLC0415

    found = [each for each in presets() if each.startswith(prefix)]
    return [*found, *glob(f"{escape(prefix)}*.toml")]


def last_word() -> str:
    """Return the last word of the command line to complete."""
    return os.environ.get(_LINE, "").rpartition(" ")[2]
