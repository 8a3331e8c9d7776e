# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pausing Python's cyclic garbage collector while a pipeline runs."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Disable the cyclic garbage collector inside the `with` block, if it is enabled.

    The tables of a pass are many objects that live as long as the pass. Collections would take a
    fifth of the run time and free nothing.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
