# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of a named pipeline that save the module."""

from __future__ import annotations

from itertools import count

from pyshardy.pipeline.options import pass_text


class Dumps:
    """Writes the steps that save a module, and numbers them in the order they come.

    Args:
        directory: where to save; there are no steps if it is empty.
        first: the number of the first.
    """

    def __init__(self, directory: str, first: int):
        self._directory = directory
        self._numbers = count(first)

    def save(self, name: str) -> list[str]:
        """The step that saves the module under its number and `name`, if anything is saved."""
        index = next(self._numbers)
        if not self._directory:
            return []
        return [pass_text("sdy-save-module", directory=self._directory, name=name, index=index)]
