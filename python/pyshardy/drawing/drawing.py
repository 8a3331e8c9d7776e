# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawing shardings and meshes, also as HTML in notebooks."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from mlir_sdy.model import AxisRef, Mesh, ModelError, TensorSharding, mesh_of
from mlir_sdy.model.mesh import MeshWithNames
from mlir_sdy.model.text import symbol
from pyshardy.drawing.figure import Figure, mesh_figure, tensor_figure
from pyshardy.drawing.svg import to_svg

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mlir_sdy.host import ir


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture, which notebooks display and `rich.print` prints to a terminal."""

    figure: Figure

    @property
    def svg(self) -> str:
        """The picture as the text of a self-contained SVG image."""
        return to_svg(self.figure)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def table(self) -> RenderableType:
        """The picture as colored text, which `rich.print` prints."""
        from pyshardy.drawing.terminal import to_table  # noqa: PLC0415 (loads rich)

        return to_table(self.figure)

    def __rich__(self) -> RenderableType:
        return self.table()

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x: auto">{self.svg}</div>'

    def __repr__(self) -> str:
        return f"Drawing({self.figure.title}, {self.figure.subtitle})"


class _Spec(Protocol):
    """The type of a tensor."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class ShardedTensor(Protocol):
    """A tensor with its sharding: an argument or a result of a program, or a sharded array."""

    @property
    def spec(self) -> _Spec: ...  # noqa: D102
    @property
    def sharding(self) -> TensorSharding | None: ...  # noqa: D102
    @property
    def mesh(self) -> Mesh: ...  # noqa: D102


class ExplainedValue(Protocol):
    """The explanation of a value."""

    @property
    def value(self) -> ir.Value: ...  # noqa: D102


def draw(
    sharding: TensorSharding | ShardedTensor | ExplainedValue | ArrayOfJax | ir.Value,
    shape: Sequence[int] | None = None,
    mesh: Mesh | None = None,
) -> Drawing:
    """Draw the slices of a tensor with the devices that hold them.

        sdy.draw(x)  # an array of JAX
        sdy.draw(sdy.explain(step, x).value("hidden"))
        sdy.draw(sdy.values(module)["%hidden"])
        sdy.draw(program.inputs[0])
        sdy.draw(sdy.sharding('<@mesh, [{"x"}]>'), (8,), mesh)

    A tile is a shard, and the numbers on it are the devices that hold it. Where a dimension is
    not a multiple of its number of shards, the padding is hatched. With more than two dimensions,
    there is a panel of tiles for each slice along the leading ones.

    Args:
        sharding: the sharding of the tensor; or an array of JAX, a value of a module, its
            explanation, an argument or a result of a partitioned program, or a sharded array, which
            have the other arguments.
        shape: its global shape.
        mesh: the mesh that the sharding refers to; optional if it is inlined.

    Raises:
        ModelError: If no mesh or shape is known, or the sharding does not fit the shape or the
            mesh.
    """
    if not isinstance(sharding, TensorSharding):
        return _draw_tensor(sharding)
    if shape is None:
        raise ModelError(f"the shape of the tensor is missing: draw({sharding}, shape, mesh)")
    if mesh is None:
        if isinstance(sharding.mesh_or_ref, str):
            name = symbol(sharding.mesh_or_ref)
            raise ModelError(f"{sharding} refers to its mesh by a symbol: pass the mesh {name}")
        mesh = sharding.mesh_or_ref
    return Drawing(tensor_figure(sharding, tuple(shape), mesh))


def _draw_tensor(tensor: ShardedTensor | ExplainedValue | ArrayOfJax | ir.Value) -> Drawing:
    """Draw a tensor that has a shape, a mesh and possibly a sharding."""
    if hasattr(tensor, "spec"):
        tensor = cast("ShardedTensor", tensor)
        sharding, shape, mesh = tensor.sharding, tensor.spec.shape, tensor.mesh
    elif hasattr(tensor, "sharding"):
        sharding, shape, mesh = _layout_of_array(cast("ArrayOfJax", tensor))
    else:
        sharding, shape, mesh = _layout_of_value(cast("ir.Value", getattr(tensor, "value", tensor)))
    return draw(sharding or TensorSharding.fully_closed(len(shape), mesh), shape, mesh)


def draw_mesh(mesh: Mesh | MeshWithNames) -> Drawing:
    """Draw the devices of a mesh along its axes.

    Args:
        mesh: the mesh, or one of JAX or PyTorch.

    Raises:
        ModelError: it is no mesh.
    """
    return Drawing(mesh_figure(Mesh.of(mesh)))


def html_of(text: str, value: Any) -> str:
    """Return a value as HTML: its text, and a picture of its mesh if it is known.

    Args:
        text: the text of the value.
        value: the plain value; a sharding that only names its mesh has no picture.
    """
    shown = f"<code>{html.escape(text)}</code>"
    mesh = value if isinstance(value, Mesh) else getattr(value, "mesh_or_ref", None)
    return shown + draw_mesh(mesh)._repr_html_() if isinstance(mesh, Mesh) else shown


# --- Layouts of arrays and values -----------------------------------------------------------------


class ArrayOfJax(Protocol):
    """An array of JAX."""

    @property
    def shape(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def sharding(self) -> Any: ...  # noqa: D102


def _layout_of_array(array: ArrayOfJax) -> tuple[TensorSharding, tuple[int, ...], Mesh]:
    """Return the sharding of an array, its shape, and the mesh, with the numbers of its devices.

    Raises:
        ModelError: the sharding isn't by axes of a mesh, but on several devices.
    """
    sharding, rank = array.sharding, len(array.shape)
    if len(sharding.device_set) == 1:
        (device,) = sharding.device_set
        mesh = Mesh.of({}, [device.id])
        return TensorSharding.fully_closed(rank, mesh), array.shape, mesh
    if not hasattr(sharding, "spec"):
        message = f"only arrays with a NamedSharding can be drawn, got: {type(sharding).__name__}"
        raise ModelError(f"{message}; jax.device_put(x, NamedSharding(mesh, spec)) gives one")
    ids = [device.id for device in sharding.mesh.devices.flat]
    is_all = sorted(ids) == list(range(len(ids)))
    mesh = Mesh.of(sharding.mesh.shape, ids if is_all else ())
    axes = [_axes_of(entry) for entry in sharding.spec]
    axes += [()] * (rank - len(axes))
    unreduced = tuple(map(AxisRef, sorted(getattr(sharding.spec, "unreduced", ()))))
    return TensorSharding.from_axes(mesh, axes, unreduced), array.shape, mesh


def _axes_of(entry: str | tuple[str, ...] | None) -> tuple[AxisRef, ...]:
    """Return the axes in an entry of a `PartitionSpec`."""
    if entry is None:
        return ()
    return tuple(map(AxisRef, (entry,) if isinstance(entry, str) else entry))


def _layout_of_value(value: ir.Value) -> tuple[TensorSharding, tuple[int, ...], Mesh]:
    """Return the sharding of a value, its shape, and the mesh.

    A value without a sharding is replicated on the only mesh of its module.

    Raises:
        ModelError: the value isn't a tensor of static shape, or the mesh is unknown.
    """
    # These load the MLIR host.
    from mlir_sdy.host import ir  # noqa: PLC0415
    from mlir_sdy.symbols import enclosing_module, meshes_of  # noqa: PLC0415
    from mlir_sdy.values import get_sharding  # noqa: PLC0415

    if not hasattr(value, "owner"):
        raise ModelError(f"expected a sharding, a value or a sharded array, got: {value!r}")
    if not isinstance(value.type, ir.RankedTensorType) or not value.type.has_static_shape:
        raise ModelError(f"only tensors of static shape can be drawn, got: {value.type}")
    owner = value.owner.owner if isinstance(value, ir.BlockArgument) else value.owner
    module = enclosing_module(owner.operation)
    meshes = {} if module is None else meshes_of(module)
    shape = tuple(value.type.shape)
    sharding = get_sharding(value)
    if sharding is None and len(meshes) == 1:
        sharding = TensorSharding.fully_closed(len(shape), *meshes)
    mesh = None if sharding is None else mesh_of(sharding, meshes)
    if sharding is None or mesh is None:
        raise ModelError("the value has no sharding, and its module has no mesh or several ones")
    return sharding, shape, mesh
