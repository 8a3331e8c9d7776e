# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pausing Python's search for cycles while a pipeline runs."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Keep the collector of cycles off inside the `with` block, if it is on.

    The tables of a pass are many objects that live as long as it does. Going through them again
    and again takes a fifth of the time, and finds nothing.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
