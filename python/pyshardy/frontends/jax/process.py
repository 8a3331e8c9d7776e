# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A name for this process, for modules that refer to its Python functions."""

from __future__ import annotations

import uuid
from functools import cache


@cache
def this_process() -> str:
    """Return a name of this process that is unique except for forked processes."""
    return uuid.uuid4().hex
