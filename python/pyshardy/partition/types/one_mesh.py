# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mesh of a function, and operations whose tensors are on several meshes of its devices.

An axis has a meaning on its own mesh only, so the tensors are moved to one mesh first.

The devices of one mesh run a function (`device_mesh_of`):

    sdy.mesh @unused = <["a"=2]>
    sdy.mesh @mesh = <["x"=8]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) ...

runs on 8 devices. The rule:

1. A function that no other calls runs on the devices of the first mesh, in the order of the
   declarations, that has axes and is in use in the function or in one that it calls, directly or
   through others. A mesh is in use if a sharding or the `replica_groups` of a StableHLO collective
   name it; shardings that leave a value replicated count only if there are no others.
2. A function that others call runs on the devices of the first caller that has any by rule 1.
3. If these rules name no mesh, it is the first one of the module that has axes.

Functions that don't call each other may run on different numbers of devices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, MeshAxis, TensorSharding, mesh_of
from mlir_sdy.model.mesh_change import sharding_on
from mlir_sdy.symbols import enclosing_function, enclosing_module, meshes_of
from pyshardy.irtools.analyses import module_analysis
from pyshardy.irtools.collectives import COLLECTIVES_WITH_GROUPS, mesh_of_groups
from pyshardy.irtools.shardings import any_sharding
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.irtools.walks import operations_named


def has_several_meshes(meshes: Mapping[str, Mesh]) -> bool:
    """Whether a module has different meshes with axes."""
    return len({mesh for mesh in meshes.values() if mesh.axes}) > 1


def shardings_on_one_mesh(
    shardings: Sequence[TensorSharding | None], num_operands: int, meshes: Mapping[str, Mesh]
) -> dict[int, TensorSharding]:
    """Return new shardings for the tensors of an operation that are not on its majority mesh.

    If equally many tensors are on several meshes, the first one is taken. A tensor keeps its layout
    if the axes of that mesh can express it, and is replicated otherwise. Replicated operands are
    the same on all meshes, but replicated results may have to be reduced along axes of the
    operands.

    Args:
        shardings: those of the operands, then results.
        num_operands: the number of operands.
        meshes: the meshes of the module by name.

    Returns:
        The new shardings by the position of the tensor; empty if all tensors are on one mesh, up to
        the order of devices, or meshes have different numbers of devices.
    """
    on: dict[int, Mesh] = {}
    for index, sharding in enumerate(shardings):
        mesh = None if sharding is None else mesh_of(sharding, meshes)
        if sharding is not None and not sharding.is_fully_replicated and mesh and mesh.axes:
            on[index] = mesh
    counts: Counter[tuple[MeshAxis, ...]] = Counter(mesh.axes for mesh in on.values())
    if not on or len({mesh.total_size for mesh in on.values()}) > 1:
        return {}
    ((chosen, _),) = counts.most_common(1)
    first = next(index for index, mesh in on.items() if mesh.axes == chosen)
    target = shardings[first]
    assert target is not None, "only tensors with shardings are on a mesh"
    new: dict[int, TensorSharding] = {}
    for index, mesh in on.items():
        sharding = shardings[index]
        if mesh.axes != chosen and sharding is not None:
            alike = sharding_on(sharding, mesh, on[first], target.mesh_or_ref)
            replicated = TensorSharding.fully_closed(sharding.rank, target.mesh_or_ref)
            new[index] = alike or replicated
    for index, sharding in enumerate(shardings):
        if index < num_operands or index in on or sharding is None:
            continue
        mesh = mesh_of(sharding, meshes)
        if mesh and mesh.axes and mesh != on[first]:
            new[index] = TensorSharding.fully_closed(sharding.rank, target.mesh_or_ref)
    return new


def is_change_of_mesh(
    before: TensorSharding | None, after: TensorSharding | None, meshes: Mapping[str, Mesh]
) -> bool:
    """Whether two shardings on different meshes are the same layout of the same devices."""
    if before is None or after is None or before.unreduced_axes or after.unreduced_axes:
        return False
    old, new = mesh_of(before, meshes), mesh_of(after, meshes)
    if old is None or new is None or not (old.axes and new.axes):
        return False
    alike = sharding_on(before, old, new, after.mesh_or_ref)
    return alike is not None and alike.dim_axes == after.dim_axes


def on_one_mesh(
    shardings: tuple[TensorSharding | None, ...], meshes: Mapping[str, Mesh]
) -> tuple[TensorSharding | None, ...]:
    """Return shardings on the mesh of the first of them by which devices hold the same parts.

    Shardings stay where they are if that mesh can't express one, or if one has unreduced axes.

    Args:
        shardings: those of the tensors of an operation.
        meshes: the meshes of the module by name.
    """
    on = {
        index: (sharding, mesh)
        for index, sharding in enumerate(shardings)
        if sharding is not None
        and not sharding.is_fully_replicated
        and (mesh := mesh_of(sharding, meshes))
    }
    if len({mesh for _, mesh in on.values()}) <= 1:
        return shardings
    first, target = next(iter(on.values()))
    new = list(shardings)
    for index, (sharding, mesh) in on.items():
        if mesh != target:
            new[index] = sharding_on(sharding, mesh, target, first.mesh_or_ref)
            if new[index] is None or sharding.unreduced_axes:
                return shardings
    return tuple(new)


# --- The mesh whose devices run a function --------------------------------------------------------


def device_mesh_of(
    operation: ir.Operation | ir.OpView, meshes: Mapping[str, Mesh] | None = None
) -> str | None:
    """Return the name of the mesh whose devices run the function of an operation.

    Args:
        operation: a function, or an operation in one.
        meshes: the meshes of its module by name, if they are known already.

    Returns:
        None if the module has no mesh with axes.
    """
    module = enclosing_module(operation)
    if module is None:
        return None
    meshes = meshes_of(module) if meshes is None else meshes
    names = [name for name, mesh in meshes.items() if mesh.axes]
    if len({meshes[name].total_size for name in names}) <= 1:
        return names[0] if names else None  # the same devices in any case
    function = enclosing_function(operation)
    name = "" if function is None else symbol_name(function)
    return _meshes_by_function(module).get(name, names[0])


def _agree(known: Mapping[str, str], current: Mapping[str, str]) -> bool:
    """Whether the functions that are left have the same meshes."""
    return all(known.get(function) == mesh for function, mesh in current.items())


@module_analysis("device-meshes", holds=_agree)
def _meshes_by_function(module: ir.Operation) -> dict[str, str]:
    """Return for each function the name of the mesh that rules 1 and 2 give it, if they do."""
    meshes = meshes_of(module)
    top_level = [view.operation for view in module.regions[0].blocks[0].operations]
    functions = {symbol_name(each): each for each in top_level if each.name == "func.func"}
    callees = {
        name: [callee_of(call) for call in operations_named({"func.call"}, function)]
        for name, function in functions.items()
    }
    used = {name: _uses_in(function) for name, function in functions.items()}
    called = {callee for name in functions for callee in callees[name] if callee != name}
    decided: dict[str, str] = {}
    # In a cycle, all functions have callers: the first of them is the entry.
    for entry in [name for name in functions if name not in called] + list(functions):
        if entry in decided:
            continue
        reached = _reached(entry, callees)
        uses = {use for name in reached for use in used.get(name, ())}
        sharded_first = [
            name
            for is_sharded in (True, False)
            for name, mesh in meshes.items()
            if mesh.axes and (name, is_sharded) in uses
        ]
        if sharded_first:
            for name in reached:
                decided.setdefault(name, sharded_first[0])
    return decided


def _reached(entry: str, callees: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the functions that a function calls, directly or not, and itself."""
    reached = [entry]
    for name in reached:  # `reached` grows
        reached += [each for each in dict.fromkeys(callees.get(name, ())) if each not in reached]
    return reached


def _uses_in(function: ir.Operation) -> set[tuple[str, bool]]:
    """Return the meshes in use in a function: the name, and whether a value is sharded on it."""
    uses: set[tuple[str, bool]] = set()

    def note(sharding: TensorSharding) -> bool:
        if isinstance(sharding.mesh_or_ref, str):
            is_sharded = not sharding.is_fully_replicated or bool(sharding.unreduced_axes)
            uses.add((sharding.mesh_or_ref, is_sharded))
        return False

    any_sharding(function, note)
    for collective in operations_named(COLLECTIVES_WITH_GROUPS, function):
        mesh = mesh_of_groups(collective)
        if isinstance(mesh, str):
            uses.add((mesh, True))
    return uses
