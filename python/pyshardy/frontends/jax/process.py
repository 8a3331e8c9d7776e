# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A name for this process, for modules that refer to functions of Python in it."""

from __future__ import annotations

import uuid
from functools import cache


@cache
def this_process() -> str:
    """Return a name that no other process has, but those forked from this one."""
    return uuid.uuid4().hex
