# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Declaration of the meshes of user-provided shardings."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.symbols import meshes_of

DEFAULT_NAME = "mesh"
"""The name of a mesh that the user provides without a name."""


def declare_meshes(
    module: ir.Module, shardings: Iterable[TensorSharding], mesh: Mesh | None
) -> None:
    """Declare `mesh` by the names under which shardings refer to it, unless the module has them.

    A mesh without references is declared as `@mesh` if the module has no other mesh with axes. JAX
    declares one without axes for a callback, which a single device runs.

    Raises:
        UsageError: shardings refer to a mesh, and there is none.
    """
    declared = meshes_of(module)
    has_axes = any(each.axes for each in declared.values())
    missing: dict[str, TensorSharding] = {}
    for sharding in shardings:
        name = sharding.mesh_or_ref
        if isinstance(name, str) and name not in declared:
            missing[name] = sharding
    if mesh is not None:
        names = missing.keys() or (() if has_axes or DEFAULT_NAME in declared else (DEFAULT_NAME,))
        place = ir.InsertionPoint.at_block_begin(module.body)
        with module.context, ir.Location.unknown():
            for name in names:
                sdy.mesh(name, attribute_of(mesh), ip=place)
    elif missing:
        name, sharding = next(iter(missing.items()))
        message = f"the sharding {sharding} refers to the mesh @{name}, which is not declared"
        raise UsageError(error(f"{message}; pass 'mesh'"))


def on_mesh(module: ir.Module, sharding: TensorSharding, mesh: Mesh | None) -> TensorSharding:
    """Return the sharding with a name that the module has for `mesh`, or has for no mesh.

    JAX declares the meshes of constraints, and may have given the name in the sharding to another
    one.
    """
    declared = meshes_of(module)
    name = sharding.mesh_or_ref
    if mesh is None or not isinstance(name, str) or name not in declared:
        return sharding
    if declared[name] == mesh or not declared[name].axes:
        return sharding
    equal = (other for other, value in declared.items() if value == mesh)
    fresh = (f"{name}_{number}" for number in itertools.count())
    free = (other for other in fresh if other not in declared)
    return sharding.with_mesh(next(itertools.chain(equal, free)))
