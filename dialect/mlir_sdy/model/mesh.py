# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device mesh: named axes with sizes over devices in row-major order."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, SupportsIndex, cast

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.errors import ModelError, ModelTypeError
from mlir_sdy.model.hashing import HashSlot, hash_once
from mlir_sdy.model.text import TextRepr, bracketed, comma_separated, quoted

if TYPE_CHECKING:
    from typing_extensions import Never


@dataclass(frozen=True, slots=True, repr=False)
class MeshAxis(TextRepr):
    """A named axis of a mesh: `"x"=4`.

    Raises:
        ModelError: On construction, if the name is not a string, or the size not a whole number of
            at least 1.
    """

    name: str
    size: int

    def __post_init__(self) -> None:
        if type(self.name) is not str or type(self.size) is not int:
            self._convert()
        if self.size < 1:
            raise ModelError(
                f"axis size must be at least 1, got: {self.size} for axis {quoted(self.name)}"
            )

    def _convert(self) -> None:
        """Convert the integers of NumPy and the like, and reject what is none."""
        name, size = cast("object", self.name), cast("object", self.size)
        if not isinstance(name, str):
            raise ModelError(f"the name of an axis must be a string, got: {name!r}")
        if isinstance(size, bool) or not isinstance(size, SupportsIndex):
            raise ModelError(
                f"the size of axis {quoted(name)} must be a whole number, got: {size!r}"
            )
        object.__setattr__(self, "size", operator.index(size))

    def __str__(self) -> str:
        return f"{quoted(self.name)}={self.size}"


class MeshWithNames(Protocol):
    """A mesh of another library: `jax.sharding.Mesh` or `AbstractMesh`."""

    @property
    def axis_names(self) -> tuple[object, ...]: ...  # noqa: D102
    @property
    def axis_sizes(self) -> tuple[int, ...]: ...  # noqa: D102


_EXAMPLE = 'a mesh is Mesh({"data": 2, "model": 4}), or made from one of JAX or PyTorch'


class _AxisTableSlot(HashSlot):
    """The slot of a mesh's table of axes, which is not a field."""

    __slots__ = ("_axis_table",)
    _axis_table: dict[str, tuple[int, int]]


@hash_once
@dataclass(frozen=True, slots=True, repr=False, init=False)
class Mesh(_AxisTableSlot):
    """Devices arranged along named axes: `Mesh({"x": 4, "y": 2})` is `<["x"=4, "y"=2]>`.

    There are three kinds of meshes:

    * *ordinary*: at least one axis; the devices are 0, 1, 2, ... or a given permutation of them;
    * *maximal*: no axes and one device id: a single device;
    * *empty*: neither; a placeholder that is compatible with any mesh.

    Device ids that are 0, 1, 2, ... in order are dropped when there are axes, so that
    `<["x"=2], device_ids=[0, 1]>` and `<["x"=2]>` are the same value.

    Raises:
        ModelError: On construction, for the first of these that holds:

            1. a device id is negative;
            2. there are no axes but several device ids;
            3. two axes have one name;
            4. there are device ids, but not as many as the product of the axis sizes;
            5. the device ids are not a permutation of 0, 1, ..., n - 1.
    """

    axes: tuple[MeshAxis, ...] = ()
    device_ids: tuple[int, ...] = ()

    def __init__(
        self,
        axes: Mapping[str, int] | Iterable[MeshAxis] | MeshWithNames = (),
        device_ids: Iterable[int] = (),
        **sizes: Never,
    ) -> None:
        if sizes:
            raise ModelTypeError(f"the sizes of axes are given by a dictionary: Mesh({sizes!r})")
        object.__setattr__(self, "axes", tuple(_axes_of(axes)))
        object.__setattr__(self, "device_ids", tuple(device_ids))
        self._check()
        if self.axes and self.device_ids == tuple(range(len(self.device_ids))):
            object.__setattr__(self, "device_ids", ())

    @classmethod
    def of(
        cls, sizes: Mapping[str, int] | Mesh | MeshWithNames, device_ids: Iterable[int] = ()
    ) -> Mesh:
        """The mesh with axes of the given sizes, major to minor: `Mesh.of({"x": 4, "y": 2})`.

        A mesh of JAX, or a `DeviceMesh` of PyTorch, gives its axes; devices are numbered in its
        order.
        """
        return sizes if isinstance(sizes, Mesh) else cls(sizes, device_ids)

    def _check(self) -> None:
        ids = self.device_ids
        for device in ids:
            if device < 0:
                raise ModelError(f"device id must be non-negative, got: {device}")
        if not self.axes:
            if len(ids) > 1:
                raise ModelError(
                    f"axes is empty and device_ids has more than one element, got: {len(ids)}"
                )
            return
        seen: set[str] = set()
        for axis in self.axes:
            if not isinstance(cast("object", axis), MeshAxis):
                raise ModelTypeError(
                    f"the axes of a mesh are sizes by names, got: {axis!r}; {_EXAMPLE}"
                )
            if axis.name in seen:
                raise ModelError(f"duplicate axis name: {quoted(axis.name)}")
            seen.add(axis.name)
        if not ids:
            return
        size = self.total_size
        if len(ids) != size:
            raise ModelError(
                "total product of axis sizes must match total number of device ids, "
                f"got: {size} != {len(ids)}"
            )
        if sorted(ids) != list(range(size)):
            raise ModelError(
                "sorted device ids must be iota(product(axes)), "
                f"got: {comma_separated(sorted(ids))}, not 0 to {size - 1}"
            )

    # --- Kinds ------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether this is the placeholder without axes and devices."""
        return not self.axes and not self.device_ids

    @property
    def is_maximal(self) -> bool:
        """Whether this is a maximal mesh of a single device; meshes with axes of size 1 are not."""
        return not self.axes and len(self.device_ids) == 1

    @property
    def maximal_id(self) -> int | None:
        """The device of a maximal mesh; none for the others."""
        return self.device_ids[0] if self.is_maximal else None

    # --- Axes -------------------------------------------------------------------------------

    @property
    def total_size(self) -> int:
        """The number of devices: the product of the axis sizes, 1 without axes."""
        return math.prod(axis.size for axis in self.axes)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names of the axes, major to minor."""
        return tuple(axis.name for axis in self.axes)

    @property
    def _table(self) -> dict[str, tuple[int, int]]:
        """The position and the size of each axis by its name, computed once."""
        try:
            return self._axis_table
        except AttributeError:
            table = {axis.name: (position, axis.size) for position, axis in enumerate(self.axes)}
            object.__setattr__(self, "_axis_table", table)
            return table

    def has_axis(self, name: str) -> bool:
        """Whether the mesh has an axis of that name."""
        return name in self._table

    def axis_size(self, name: str) -> int:
        """The size of the axis `name`.

        Raises:
            ModelError: If the mesh has no such axis.
        """
        try:
            return self._table[name][1]
        except KeyError:
            known = comma_separated(map(quoted, self.axis_names))
            raise ModelError(
                f"unknown axis name: {quoted(name)}; the mesh has "
                + (f"the axes {known}" if known else "no axes")
            ) from None

    def axis(self, name: str) -> AxisRef:
        """The ref to the full axis `name`.

        Raises:
            ModelError: If the mesh has no such axis.
        """
        self.axis_size(name)
        return AxisRef(name)

    def sub_axis(self, name: str, pre_size: int, size: int) -> AxisRef:
        """The ref to the part `(pre_size)size` of the axis `name`.

        On `<["x"=8]>`, `sub_axis("x", 2, 2)` is the middle one of the three parts of size 2.

        Raises:
            ModelError: If the mesh has no such axis, or the axis no such proper part.
        """
        whole = self.axis_size(name)
        part = AxisRef.sub(name, pre_size, size)
        if pre_size < 1:
            raise ModelError(f"the pre-size of {part} must be at least 1")
        if size < 2:
            raise ModelError(f"the size of {part} must be at least 2")
        if whole % (pre_size * size):
            raise ModelError(
                f"{part} does not divide its axis: its pre-size times its size is "
                f"{pre_size * size}, the size of {quoted(name)} is {whole}"
            )
        if size == whole:
            raise ModelError(f"{part} is the full axis: write {quoted(name)}")
        return part

    def sort_key(self, axis: AxisRef) -> tuple[int, str, int, int]:
        """Return the key of the order of refs on this mesh: by the axis' position, then by `<`.

        Unknown names come after all known ones, by name, so that sorting refs that are still
        unverified is well defined.
        """
        position, _ = self._table.get(axis.name, (len(self.axes), 0))
        return position, *axis.sort_key

    def axes_size(self, axes: Iterable[AxisRef]) -> int:
        """The product of the sizes of `axes`."""
        return math.prod(axis.size(self) for axis in axes)

    # --- Devices ----------------------------------------------------------------------------

    @property
    def devices(self) -> Sequence[int]:
        """The device ids in row-major order of the axes; that of the empty mesh is 0."""
        return self.device_ids or range(self.total_size)

    def equals_ignoring_device_ids(self, other: Mesh) -> bool:
        """Whether both meshes have the same axes and both or neither are maximal."""
        return self.is_maximal == other.is_maximal and self.axes == other.axes

    def __str__(self) -> str:
        ids = f", device_ids={bracketed(self.device_ids)}" if self.device_ids else ""
        return f"<{bracketed(self.axes)}{ids}>"


def _axes_of(given: Mapping[str, int] | Iterable[MeshAxis] | MeshWithNames) -> Iterable[MeshAxis]:
    """Return the axes of sizes by names, or of a mesh of JAX or PyTorch."""
    names = getattr(given, "axis_names", None) or getattr(given, "mesh_dim_names", None)
    if names is not None:
        sizes = getattr(given, "axis_sizes", None) or getattr(given, "shape", ())
        given = dict(zip(map(str, names), cast("Iterable[int]", sizes), strict=True))
    if isinstance(given, Mapping):
        return itertools.starmap(MeshAxis, cast("Mapping[str, int]", given).items())
    if not isinstance(given, Iterable):
        raise ModelTypeError(
            f"expected the sizes of axes by their names, got: {given!r}; {_EXAMPLE}"
        )
    return given
