# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings as users write them, and in texts as front ends write them.

| form      | `<@mesh, [{"data"}, {}]>` on `<["data"=4, "model"=2]>` |
|-----------|--------------------------------------------------------|
| `sdy`     | `<@mesh, [{"data"}, {}]>`                              |
| `jax`     | `P('data', None)`                                      |
| `dtensor` | `(Shard(0), Replicate())`                              |

Lists of unreduced axes are kept in both: `P('data', None, unreduced={'model'})`, `Partial()`.
Open dimensions look as closed ones, and parts of axes are as in sdy: `"data":(1)2`. A sharding with
such parts stays as it is in the form of PyTorch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from mlir_sdy.assembly.attribute_text import read_stripped
from mlir_sdy.assembly.source import Cursor, SourceText
from mlir_sdy.diagnostics import UsageError, VerificationError, error, wrong_type
from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, TensorSharding
from mlir_sdy.model.text import quoted
from mlir_sdy.suggest import did_you_mean

Form: TypeAlias = Literal["sdy", "jax", "dtensor"]
"""A way to write shardings."""

ShardingSpec: TypeAlias = TensorSharding | str | Iterable[str | Sequence[str] | None]
"""A sharding as users write it; see `sharding`."""

_SHARDING = re.compile(r"<@[\w.$-]+, \[[^\]]*\](?:, \w+=\{[^}]*\})*>")
_SPEC = re.compile(r"P\((?P<dims>.*)\)")


def sharding(spec: ShardingSpec, mesh: str | Mesh = "mesh") -> TensorSharding:
    """Return the sharding of a text, or of the axes of each dimension.

        sdy.sharding('<@mesh, [{"x"}, {?}]>')
        sdy.sharding("[{'x'}, {?}]")
        sdy.sharding(PartitionSpec("x", None))
        sdy.sharding((("x", "y"), None))

    Args:
        spec: the text: in assembly syntax, with or without `#sdy.sharding` in front of it; without
            a mesh, as explanations print it, `[{'x'}, {?}]`; or as JAX prints it, `P('x', None)`.
            Or for each dimension the name of an axis, a tuple of names, or None, such as a
            `PartitionSpec` of JAX. Such dimensions are closed, except for
            `PartitionSpec.UNCONSTRAINED`. A sharding is returned as it is.
        mesh: the mesh, or the name of its symbol, unless the sharding has one.

    Raises:
        ParseError: the text can't be read.
        UsageError: a dimension is something else.
    """
    if isinstance(spec, TensorSharding):
        return spec
    if not isinstance(spec, str):
        if not isinstance(spec, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            expected = "a text or the axes of each dimension, such as ('data', None)"
            raise wrong_type("sharding", expected, spec)
        return _sharding_by_axes(spec, mesh)
    dims = dims_of_spec(spec) or spec.strip()
    if re.fullmatch(r"[\w.-]+", dims):
        message = f"expected a sharding, as [{{'{dims}'}}, {{}}], got: '{dims}'"
        raise UsageError(error(f"{message}; or the axes of each dimension, as ('{dims}', None)"))
    has_no_mesh = dims.startswith("[")
    text = f"<@mesh, {dims}>".replace("'", '"') if has_no_mesh else spec
    cursor = Cursor(SourceText(text, "sharding"))
    value: TensorSharding = read_stripped("sharding")(cursor)
    cursor.skip_blank()
    if cursor.position < len(text):
        raise cursor.unexpected("the end of the sharding")
    return replace(value, mesh_or_ref=mesh) if has_no_mesh else value


def _sharding_by_axes(spec: Iterable[object], mesh: str | Mesh) -> TensorSharding:
    entries = cast("Iterable[object]", getattr(spec, "partitions", spec))
    unreduced = sorted(cast("Iterable[str]", getattr(spec, "unreduced", ())))
    dims = tuple(map(_dimension, entries))
    return TensorSharding(mesh, dims, unreduced_axes=tuple(map(AxisRef, unreduced)))


def _dimension(entry: object) -> DimensionSharding:
    """Return the sharding of a dimension by an axis, a tuple of axes or None."""
    if type(entry).__name__ == "UnconstrainedSingleton":  # of JAX, which need not be loaded
        return DimensionSharding()
    names: list[object] = [] if entry is None else [entry]
    if isinstance(entry, tuple | list):
        names = list(cast("Sequence[object]", entry))
    if not all(isinstance(name, str) for name in names):
        message = f"expected the name of an axis, a tuple of names or None, got: {entry!r}"
        raise UsageError(error(message))
    return DimensionSharding(tuple(AxisRef(str(name)) for name in names), is_closed=True)


def check_axes(name: str, sharding: TensorSharding, meshes: Mapping[str, Mesh]) -> None:
    """Check that the mesh of the sharding of a value has its axes, if the mesh is known.

    Raises:
        VerificationError: it lacks an axis.
    """
    mesh = sharding.mesh_or_ref
    mesh = meshes.get(mesh) if isinstance(mesh, str) else mesh
    for axis in sharding.all_axes() if mesh is not None else ():
        if mesh is not None and axis.name not in mesh.axis_names:
            hint = did_you_mean(axis.name, mesh.axis_names, mark='"')
            known = hint or f"; its axes are {', '.join(map(quoted, mesh.axis_names))}"
            message = f"the sharding of '{name}': the mesh has no axis {quoted(axis.name)}{known}"
            raise VerificationError(error(message))


def in_form(text: str, form: Form, mesh: Mesh) -> str:
    """Return a text with its shardings in a form.

    Args:
        text: the text, with shardings as `<@mesh, [{"data"}, {}]>`.
        form: the form.
        mesh: the mesh of the shardings.
    """
    if form == "sdy":
        return text
    return _SHARDING.sub(lambda found: _written(found[0], form, mesh), text)


def spec_text(sharding: TensorSharding) -> str:
    """Return a sharding as a `PartitionSpec`, with sub-axes as in sdy: `P('data', "x":(1)4)`."""
    unreduced = map(_axis, sharding.unreduced_axes)
    return _spec_text([map(_axis, axes) for axes in sharding.dim_axes], unreduced)


def spec_of_names(axes_of_dims: Iterable[Iterable[str]]) -> str:
    """Return the `PartitionSpec` of the names of the axes of each dimension."""
    return _spec_text([map(repr, names) for names in axes_of_dims])


def _spec_text(axes_of_dims: Iterable[Iterable[str]], unreduced: Iterable[str] = ()) -> str:
    dims = [_dim(tuple(axes)) for axes in axes_of_dims]
    partial = ", ".join(unreduced)
    return f"P({', '.join([*dims, *([f'unreduced={{{partial}}}'] if partial else [])])})"


def dims_of_spec(text: str, rank: int = 0) -> str | None:
    """Return the dimensions of a `PartitionSpec` as sdy writes them; None for another text.

    Of `P('data', None, ('x', 'y'))` they are `[{"data"}, {}, {"x", "y"}]`. As in JAX, dimensions
    behind those that it has, up to `rank`, are unsharded.
    """
    found = _SPEC.fullmatch(text.strip())
    if found is None:
        return None
    dims: list[str] = []
    for entry in re.findall(r"\([^()]*\)|[^,()]+", found["dims"]):
        names = re.findall(r"['\"]([^'\"]+)['\"]", entry)
        if not entry.strip():
            continue
        if not names and entry.strip() not in ("None", "()"):
            return None
        axes = ", ".join(f'"{name}"' for name in names)
        dims.append(f"{{{axes}}}")
    dims += ["{}"] * (rank - len(dims))
    return f"[{', '.join(dims)}]"


def _written(text: str, form: Form, mesh: Mesh) -> str:
    sharding: TensorSharding = read_stripped("sharding")(Cursor(SourceText(text, "sharding")))
    return spec_text(sharding) if form == "jax" else _placements(sharding, mesh) or text


def _placements(sharding: TensorSharding, mesh: Mesh) -> str:
    """Return a sharding as the placements of PyTorch; empty if they can't express it."""
    dims = {axis: dim for dim, axes in enumerate(sharding.dim_axes) for axis in axes}
    unreduced = {axis.name for axis in sharding.unreduced_axes}
    if any(axis.sub_axis_info is not None for axis in dims):
        return ""
    placements = [
        f"Shard({dims[AxisRef(axis.name)]})"
        if AxisRef(axis.name) in dims
        else "Partial()"
        if axis.name in unreduced
        else "Replicate()"
        for axis in mesh.axes
    ]
    return f"({', '.join(placements)}{',' if len(placements) == 1 else ''})"


def _axis(axis: AxisRef) -> str:
    return f"'{axis.name}'" if axis.sub_axis_info is None else str(axis)


def _dim(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    return f"({', '.join(names)})" if names else "None"
