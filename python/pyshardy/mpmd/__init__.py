# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MPMD programs, `sdy.mpmd`: pipelines of fragments on named meshes.

    topology = sdy.mpmd.Topology({"m0": {"data": 2}, "m1": {"data": 2}})
    module = sdy.mpmd.trace(step, params, batch, topology=topology, assignment={"layer*": "m0"})
    program = sdy.mpmd.partition(module, schedule="1f1b")
    outputs = program.run(inputs, backend="jit")
    print(program.timeline("h100"))

| module         | contents                                                       |
|----------------|----------------------------------------------------------------|
| `names`        | names, calls of microbatches and sums in JAX programs          |
| `staging`      | names between markers of values                                |
| `tracing`      | tracing of JAX functions with names for a topology             |
| `partitioning` | `sdy.mpmd.partition`                                           |
| `program`      | partitioned programs                                           |
| `plan`         | what a program does, in its total order and on each mesh       |
| `boxes`        | transfers between layouts                                      |
| `execution`    | runs of programs, by one thread or a thread for each mesh      |
| `ranks`        | runs of programs by the processes of an MPI job                |
| `comparing`    | comparison of schedules, and of other meshes for names         |
| `explaining`   | why values are transferred, and what fragments compute         |
| `reference`    | the unpartitioned program, without names                       |
| `timeline`     | what each mesh runs when, idle time, memory and traffic        |
| `spans`        | the times of fragments, transfers and meshes                   |
| `page`         | the report with charts of schedules                            |
| `planning`     | the mesh of each name, by the cost model                       |
| `boundaries`   | which layers are on which mesh                                 |
| `passes`       | the passes, by family                                          |
| `pipelines`    | the named pipelines of the passes                              |
| `options`      | the text forms of options of passes                            |
| `inference`    | sets of meshes and reductions, for the passes                  |
| `rewriting`    | changes of functions, fragments and calls, for the passes      |
| `schedules`    | in which order each mesh runs its fragments                    |
| `simulator`    | when each mesh runs each fragment under a schedule             |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyshardy.mpmd.comparing import advise, compare
    from pyshardy.mpmd.execution import FragmentError
    from pyshardy.mpmd.names import (
        broadcast,
        call,
        microbatched,
        named_computation,
        named_tensor,
        reduce,
    )
    from pyshardy.mpmd.partitioning import partition
    from pyshardy.mpmd.planning import PipelinePlan, auto
    from pyshardy.mpmd.program import MpmdProgram
    from pyshardy.mpmd.schedules.schedule import WrittenSchedule as Schedule
    from pyshardy.mpmd.staging import stage_marker, staged
    from pyshardy.mpmd.tracing import Topology, trace

__all__ = [
    "FragmentError",
    "MpmdProgram",
    "PipelinePlan",
    "Schedule",
    "Topology",
    "advise",
    "auto",
    "broadcast",
    "call",
    "compare",
    "microbatched",
    "named_computation",
    "named_tensor",
    "partition",
    "reduce",
    "stage_marker",
    "staged",
    "trace",
]

_HOMES = {
    "comparing": ("advise", "compare"),
    "planning": ("PipelinePlan", "auto"),
    "execution": ("FragmentError",),
    "names": ("broadcast", "call", "microbatched", "named_computation", "named_tensor", "reduce"),
    "partitioning": ("partition",),
    "program": ("MpmdProgram",),
    "schedules.schedule": ("WrittenSchedule",),
    "staging": ("stage_marker", "staged"),
    "tracing": ("Topology", "trace"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name at its first use, as passes need none of them."""
    inner = "WrittenSchedule" if name == "Schedule" else name
    if inner not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[inner]}"), inner)


def __dir__() -> list[str]:
    return sorted(__all__)
