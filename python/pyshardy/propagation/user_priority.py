# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""User priorities: dimensions of a lower priority number are propagated first.

1. Every sharding with priorities is hidden (`hidden`): its dimensions of a priority above 0 have no
   axes and are closed, and their axes are replicated, so that no other dimension takes them.
2. Propagate.
3. For each priority that occurs, in order: restore the dimensions of that priority (`restored`) in
   the propagated shardings, and propagate.

No priorities are left afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from mlir_sdy.model import DimensionSharding, Mesh, TensorSharding, mesh_of
from pyshardy.propagation.engine import Engine

_HIDDEN = DimensionSharding(is_closed=True)


def hidden(sharding: TensorSharding, mesh: Mesh) -> TensorSharding:
    """Return the sharding with only its dimensions of priority 0, without priorities.

    The axes of the other dimensions are added to the replicated ones, in the order of the mesh.

    On a mesh `<["x"=2, "y"=2]>`, `<@m, [{"y"}p1, {"x", ?}p0]>` becomes
    `<@m, [{}, {"x", ?}], replicated={"y"}>`.
    """
    dims = tuple(
        _without_priority(dim) if dim.effective_priority == 0 else _HIDDEN
        for dim in sharding.dim_shardings
    )
    axes = [
        axis for dim in sharding.dim_shardings if dim.effective_priority > 0 for axis in dim.axes
    ]
    replicated = sorted((*sharding.replicated_axes, *axes), key=mesh.sort_key)
    return sharding.with_dims(dims).with_replicated_axes(tuple(replicated))


def restored(current: TensorSharding, original: TensorSharding, priority: int) -> TensorSharding:
    """Restore the dimensions of one priority of the original in a propagated sharding.

    The axes of these dimensions are no longer replicated.

    With an original `<@m, [{"y"}p1, {"x", ?}]>`, at priority 1 `<@m, [{}, {"x", "z", ?}],
    replicated={"y"}>` becomes `<@m, [{"y"}, {"x", "z", ?}]>`.
    """
    dims = list(current.dim_shardings)
    restored_axes = set[object]()
    for index, dim in enumerate(original.dim_shardings):
        if dim.effective_priority == priority:
            dims[index] = _without_priority(dim)
            restored_axes.update(dim.axes)
    replicated = tuple(axis for axis in current.replicated_axes if axis not in restored_axes)
    return current.with_dims(tuple(dims)).with_replicated_axes(replicated)


def run_by_user_priority(
    engine: Engine, run: Callable[[int], None], before_next: Callable[[int], None] | None = None
) -> None:
    """Call `run` for each priority that occurs, with the dimensions up to it visible.

    Args:
        engine: the shardings of the program.
        run: propagates; called with the priority.
        before_next: called before each priority but the first, with the previous one.
    """
    places = _hide(engine)
    run(0)
    done = 0
    for priority in sorted(places):
        if before_next is not None:
            before_next(done)
        for slot, original in places[priority]:
            current = engine.sharding(slot)
            if current is not None:
                engine.set_sharding(slot, restored(current, original, priority))
        run(priority)
        done = priority


def _hide(engine: Engine) -> dict[int, list[tuple[int, TensorSharding]]]:
    """Hide all shardings with priorities; return the slots of each priority."""
    places: defaultdict[int, list[tuple[int, TensorSharding]]] = defaultdict(list)
    meshes = engine.program.meshes
    for slot, sharding in engine.given_shardings():
        if all(dim.priority is None for dim in sharding.dim_shardings):
            continue
        mesh = mesh_of(sharding, meshes)
        if mesh is None:
            continue
        engine.set_sharding(slot, hidden(sharding, mesh))
        for priority in {dim.effective_priority for dim in sharding.dim_shardings} - {0}:
            places[priority].append((slot, sharding))
    return places


def _without_priority(dim: DimensionSharding) -> DimensionSharding:
    return DimensionSharding(dim.axes, dim.is_closed)
