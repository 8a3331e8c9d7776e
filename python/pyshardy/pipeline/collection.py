# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pausing Python's cyclic garbage collector while a pipeline runs."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_is_paused = False


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Disable the cyclic garbage collector inside the `with` block, if it is enabled.

    The tables of a pass are many objects that live as long as the pass. Collections would take a
    fifth of the run time and free nothing.
    """
    if not gc.isenabled():
        yield
        return
    global _is_paused  # noqa: PLW0603 (as the collector is that of the process)
    gc.disable()
    _is_paused = True
    try:
        yield
    finally:
        _is_paused = False
        gc.enable()


def collect_young_objects() -> None:
    """Collect the objects since the collector was paused, at a time when nothing else is to do.

    The collector does the same after the pause. If the user has disabled it, nothing is collected.
    """
    if _is_paused:
        gc.collect(0)
