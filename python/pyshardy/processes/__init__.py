# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other processes, of two kinds: a worker is a new interpreter, a fork is a copy of this process.

- `worker`: the loop of a process that answers requests;
- `child_process`: the process that asks them, for libraries that may abort or hang;
- `fork`: forks that share what they say before a crash, try code, or compute texts;
- `crash`: the description of a crash.

The tools guard their entire run by a fork; see `pyshardy.cli.crash_report`.
"""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Let the system kill this process when its parent is killed, on Linux."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    import ctypes  # noqa: PLC0415 (takes milliseconds, and the host loads it anyway)

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
