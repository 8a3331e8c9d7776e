# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The progress of long work, on standard error."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

from mlir_sdy.stages import VERIFYING, current_depth, listening, stage

_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")
"""The environment variables in which launchers of MPI jobs tell a process its number."""


def is_later_rank() -> bool:
    """Whether this is a process of an MPI job other than the first, which prints for all."""
    return any(os.environ.get(name, "0") != "0" for name in _RANKS)


@contextlib.contextmanager
def activity(what: str) -> Iterator[None]:
    """Report an activity and its stages: on a terminal, and to the guard.

    partitioning ... running pass 'sdy-insert-explicit-reshards' (stage 31, 4 s)
    """
    with stage(what):
        if sys.stderr is None or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console  # noqa: PLC0415 (slow)
        from rich.text import Text  # noqa: PLC0415

        started, count = time.monotonic(), 0

        def show(stages: tuple[str, ...]) -> None:
            nonlocal count
            if len(stages) > outer and stages[outer] != VERIFYING:
                count += 1
                seconds = time.monotonic() - started
                about = f"{stages[outer]} (stage {count}, {seconds:.0f} s)"
                status.update(Text(f"{what} ... {about}"))

        outer = current_depth()
        with Console(stderr=True).status(f"{what} ...") as status, listening(show):
            yield
