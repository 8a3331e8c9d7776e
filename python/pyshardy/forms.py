# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings in texts as front ends write them.

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
from collections.abc import Iterable
from typing import Literal, TypeAlias

from mlir_sdy.assembly.attribute_text import read_stripped
from mlir_sdy.assembly.source import Cursor, SourceText
from mlir_sdy.model import AxisRef, Mesh, TensorSharding

Form: TypeAlias = Literal["sdy", "jax", "dtensor"]
"""A way to write shardings."""

_SHARDING = re.compile(r"<@[\w.$-]+, \[[^\]]*\](?:, \w+=\{[^}]*\})*>")
_SPEC = re.compile(r"P\((?P<dims>.*)\)")


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
