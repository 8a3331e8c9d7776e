# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings that users give by patterns of names, and declaration of their meshes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.suggest import unmatched_pattern
from mlir_sdy.symbols import meshes_of
from pyshardy.forms import ShardingSpec, check_axes
from pyshardy.forms import sharding as sharding_of

DEFAULT_NAME = "mesh"
"""The name of a mesh that the user provides without a name."""


def declare_meshes(
    module: ir.Module,
    shardings: Iterable[TensorSharding],
    mesh: Mesh | Mapping[str, int] | None,
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
                sdy.mesh(name, attribute_of(Mesh.of(mesh)), ip=place)
    elif missing:
        name, sharding = next(iter(missing.items()))
        message = f"the sharding {sharding} refers to the mesh @{name}, which is not declared"
        raise UsageError(error(f"{message}; pass 'mesh'"))


def declare_meshes_of_arguments(
    module: ir.Module,
    shardings: Mapping[str, TensorSharding],
    mesh: Mesh | Mapping[str, int] | None,
) -> None:
    """Declare the mesh of the shardings of arguments, by name, as `declare_meshes` does.

    Raises:
        UsageError: shardings refer to a mesh, and there is none.
        VerificationError: the mesh lacks an axis of a sharding.
    """
    declare_meshes(module, shardings.values(), mesh)
    declared = meshes_of(module)
    for name, given in shardings.items():
        check_axes(name, given, declared)


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


# --- Shardings by patterns of names ---------------------------------------------------------------


def match(
    patterns: Mapping[str, ShardingSpec], ranks: Mapping[str, int]
) -> dict[str, TensorSharding]:
    """Return the shardings of arguments.

    1. Patterns are those of `fnmatch`: `*` matches any text, including dots.
    2. The first pattern that matches a name determines its sharding.
    3. Each pattern must match a name, even if an earlier one determines its sharding.

    `{"*.bias": (None,), "*": ("data", None)}` replicates biases and shards all other arguments.

    Args:
        patterns: shardings, as `sdy.sharding` takes them, by patterns of names.
        ranks: the number of dimensions of each argument by its name.

    Raises:
        UsageError: a pattern matches no name, or the rank of its sharding differs from that of a
            matching argument.
    """
    matched: dict[str, TensorSharding] = {}
    if not isinstance(patterns, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        first = next(iter(ranks), "x")
        message = (
            "shardings are given by names or patterns of names, as in "
            f"{{'{first}': ('axis', None)}}, got: {patterns!r}"
        )
        raise UsageError(error(message))
    for pattern, written in patterns.items():
        matching = [name for name in ranks if fnmatchcase(name, pattern)]
        if not matching:
            hint = unmatched_pattern(pattern, ranks, fnmatchcase)
            raise UsageError(error(f"no argument matches '{pattern}'{hint}"))
        sharding = sharding_of(written, DEFAULT_NAME)
        for name in matching:
            if name in matched:
                continue
            if ranks[name] != sharding.rank:
                is_exact = pattern == name
                advice = "give None for the others" if is_exact else "add an earlier pattern for it"
                message = (
                    f"'{pattern}' matches '{name}', which has {ranks[name]} dimensions, but its "
                    f"sharding has {sharding.rank}: {sharding}; {advice}"
                )
                raise UsageError(error(message))
            matched[name] = sharding
    return matched
