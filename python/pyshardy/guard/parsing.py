# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trial runs in a forked process of code that may crash."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.guard.child import SharedState, forked
from pyshardy.guard.crash import HostCrashError


def raise_if_crashing(work: Callable[[], object]) -> None:
    """Run a function in a forked process, and discard its result.

    Its exceptions are not raised here, since the caller runs the function again in this process.

    Args:
        work: the function. It must not wait for other threads: a forked process has none.

    Raises:
        HostCrashError: the forked process crashed.
        UsageError: this system has no `fork`.
    """
    if not hasattr(os, "fork"):
        raise UsageError(error("a guard needs 'fork', which this system doesn't have"))
    shared = SharedState()
    try:
        child = forked()
        if child == 0:
            _work_in_child(work, shared)
        _, status = os.waitpid(child, 0)
        crash = shared.crash(status)
    finally:
        shared.close()
    if crash is not None:
        raise HostCrashError(error(crash.message))


def _work_in_child(work: Callable[[], object], shared: SharedState) -> NoReturn:
    try:
        gc.disable()  # frees nothing that the parent needs, and costs copies of its pages
        shared.enter_child()
        sys.stderr = None  # what there is to say, the parent says when it does the work again
        work()
    finally:
        os._exit(0)  # also after an exception
