# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Advice on the meshes of names: what moving a name to a neighbor of its mesh saves."""

from __future__ import annotations

from typing import Any

from mlir_sdy.mpmd.reading import NAMED_COMPUTATION, name_of
from pyshardy.any_program import Program, module_of
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import read_assignment
from pyshardy.mpmd.partitioning import Partitioning
from pyshardy.mpmd.passes.importing.import_names import names_in_order
from pyshardy.mpmd.schedules.schedule import WrittenSchedule
from pyshardy.program import PartitionedProgram


def advise(
    module: Program,
    *,
    schedule: str | WrittenSchedule = "1f1b",
    hardware: Hardware | str,
    **options: Any,
) -> list[str]:
    """Return sentences on the slowest mesh: what moving its first or last name saves.

        sdy.mpmd.advise(module, hardware="h100")
        # ["m2 takes 1.4 times the mean: moving layer11 to m3 saves 6.0%"]

    Each change is tried: the program is partitioned with it, and its timeline compared.

    Args:
        module: the program, as for `partition`.
        schedule: the schedule.
        hardware: the devices and links.
        options: the other options of `partition`.

    Raises:
        UsageError: as for `partition`.
        PipelineError: as for `partition`.
    """
    model = hardware if isinstance(hardware, Hardware) else load_hardware(hardware)
    known: dict[str, PartitionedProgram] = {}
    local = module_of("mpmd.advise", module)
    prepared = Partitioning(local, hardware=model, programs=known, **options)
    line = prepared.by(schedule).timeline(model)
    busy = {name: float(each.busy) for name, each in line.meshes.items()}
    slowest = max(busy, key=lambda name: busy[name])
    ratio = busy[slowest] * len(busy) / (sum(busy.values()) or 1)
    assigned = read_assignment(prepared.assignment)
    chain = names_in_order(prepared.given)[0] or [
        name_of(each) for each in operations_named({NAMED_COMPUTATION}, prepared.given)
    ]
    placed = {
        name: place.mesh + (f"#{place.memory_kind}" if place.memory_kind else "")
        for name, place in assigned.items()
    }
    own = [name for name in dict.fromkeys(chain) if placed.get(name) == slowest]
    if len(own) < 2 or any(each.stage is not None for each in assigned.values()):
        return [f"{slowest} takes {ratio:.2f} times the mean"]
    meshes = list(busy)
    at = meshes.index(slowest)
    found: list[str] = []
    for name, to in ((own[0], at - 1), (own[-1], at + 1)):
        if not 0 <= to < len(meshes):
            continue
        tried: dict[str, Any] = {**options, "assignment": placed | {name: meshes[to]}}
        moved = Partitioning(local, hardware=model, programs=known, **tried).by(schedule)
        change = float(moved.timeline(model).total / line.total) - 1
        told = f"saves {-change:.1%}" if change < 0 else f"takes {change:.1%} more"
        found.append(
            f"{slowest} takes {ratio:.2f} times the mean: moving {name} to {meshes[to]} {told}"
        )
    return found
