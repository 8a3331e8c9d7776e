# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of a named pipeline that save the module."""

from __future__ import annotations

from itertools import count
from typing import Annotated

from pyshardy.pipeline import PassUse, use
from pyshardy.pipeline.options import Help

DumpDirectory = Annotated[
    str,
    Help(
        "directory to which the module is saved at some stages; empty to save nothing", default=""
    ),
]


class Dumps:
    """Generates the steps that save a module, numbered in order.

    Args:
        directory: the directory of the files; there are no steps if it is empty.
        first: the number of the first.
    """

    def __init__(self, directory: str, first: int):
        self._directory = directory
        self._numbers = count(first)

    def save(self, name: str) -> list[PassUse]:
        """Return the step that saves the module as `name`, if modules are saved."""
        index = next(self._numbers)
        if not self._directory:
            return []
        return [use("sdy-save-module", directory=self._directory, name=name, index=index)]
