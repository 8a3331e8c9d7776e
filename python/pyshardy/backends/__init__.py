# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running programs.

| module               | what it holds                                                          |
|----------------------|------------------------------------------------------------------------|
| `engine`             | the interface of local engines, which run what needs one device only   |
| `interpreter`        | the engine of the StableHLO reference interpreter, in a child process  |
| `interpreter_worker` | that process                                                           |
| `unsupported`        | what the interpreter can't run                                         |
| `specs`, `values`    | types of tensors and the arrays that stand for their values            |
| `edges`              | programs whose arguments and results are plain arrays                  |
| `lockstep`           | programs with collectives on several simulated devices                 |
| `pieces`             | cutting them at collectives                                            |
| `groups`             | which devices a collective joins                                       |
| `collectives`        | the collectives in NumPy                                               |
| `reductions`         | the bodies of reducing collectives                                     |

Local engines have names; `local_engine` gives one. Nothing is imported or started before its use.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import UsageError, error

if TYPE_CHECKING:
    from pyshardy.backends.engine import Engine

ENGINES: dict[str, str] = {
    "interpreter": "pyshardy.backends.interpreter:InterpreterEngine",
}
"""The class of each local engine, as `module:class`."""


@cache
def local_engine(name: str) -> Engine:
    """The local engine of that name; there is one of each in a process.

    Raises:
        UsageError: there is none.
    """
    if name not in ENGINES:
        known = ", ".join(f"'{known}'" for known in ENGINES)
        raise UsageError(error(f"unknown backend '{name}'; there are: {known}"))
    module, _, engine_class = ENGINES[name].partition(":")
    return getattr(importlib.import_module(module), engine_class)()
