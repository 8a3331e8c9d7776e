# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command-line tools.

In the process of a tool, an interrupt from the keyboard ends it without a traceback while modules
are loaded; `tool` restores Python's handler.
"""

import os
import signal
import sys

_PROGRAM = sys.argv[0] if sys.argv else ""
_IS_TOOL = (
    os.path.basename(_PROGRAM).startswith("sdy-")
    or _PROGRAM == "-m"
    or _PROGRAM.endswith(os.path.join("pyshardy", "__main__.py"))
)


def _end(_number: int, _frame: object) -> None:
    os._exit(130)


if _IS_TOOL and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
