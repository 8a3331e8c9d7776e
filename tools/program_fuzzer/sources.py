# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs to mutate: the corpus, the examples, and the inputs of the lit tests."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEPARATOR = "// -----\n"

_USUAL_SIZE = 2000
"""Programs of up to so many characters are equally likely; the likelihood of longer ones falls with
their length, since the time for a case grows with it."""


_NAME_LOCATION = re.compile(r'loc\("[^"]*"\)')


def programs() -> list[str]:
    """Return all programs, in an order that depends on their file names only."""
    paths = sorted(
        [
            *ROOT.glob("test/corpus/mlir/*.mlir"),
            *ROOT.glob("examples/**/*.mlir"),
            *ROOT.glob("test/lit/**/*.mlir"),
        ]
    )
    return [part for path in paths for part in _parts(path)]


def _parts(path: Path) -> Iterator[str]:
    """Yield the modules of a file without comments, which aren't tokens of a program.

    Modules with expected errors are omitted: nearly all of their mutations would be rejected for
    the same reason. So are modules with locations outside of files, where errors have no line.
    """
    for part in path.read_text().split(SEPARATOR):
        if "expected-error" in part or _NAME_LOCATION.search(part):
            continue
        lines = [line for line in part.splitlines() if not line.lstrip().startswith("//")]
        if any(line.strip() for line in lines):
            yield "\n".join(lines).strip("\n") + "\n"


class Sampler:
    """Draws programs, short ones more often.

    Args:
        texts: the programs to draw from.
    """

    def __init__(self, texts: list[str]):
        self._texts = texts
        self._weights = [min(1.0, _USUAL_SIZE / len(text)) for text in texts]

    def draw(self, rng: random.Random) -> str:
        """Return one of the programs."""
        return rng.choices(self._texts, self._weights)[0]
