# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device mesh: named axes with sizes over devices in row-major order."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.hashing import HashedOnce
from mlir_sdy.model.text import bracketed, comma_separated, quoted


@dataclass(frozen=True, slots=True)
class MeshAxis:
    """A named axis of a mesh: `"x"=4`."""

    name: str
    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ModelError(
                f"the size of mesh axis {self.name!r} must be at least 1, got: {self.size}"
            )

    def __str__(self) -> str:
        return f"{quoted(self.name)}={self.size}"


@dataclass(frozen=True, slots=True)
class Mesh(HashedOnce):
    """Devices arranged along named axes: `<["x"=4, "y"=2]>`.

    There are three kinds of meshes:

    * *ordinary*: at least one axis; the devices are 0, 1, 2, ... or a given permutation of them;
    * *maximal*: no axes and one device id, which stands for that single device;
    * *empty*: neither; a placeholder that goes with any mesh.

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

    __hash__ = HashedOnce.__hash__

    axes: tuple[MeshAxis, ...] = ()
    device_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._check()
        if self.axes and self.device_ids == tuple(range(len(self.device_ids))):
            object.__setattr__(self, "device_ids", ())

    def _check(self) -> None:
        ids = self.device_ids
        for device in ids:
            if device < 0:
                raise ModelError(f"device ids must be non-negative, got: {device}")
        if not self.axes:
            if len(ids) > 1:
                raise ModelError(f"a mesh without axes has at most one device id, got: {len(ids)}")
            return
        seen: set[str] = set()
        for axis in self.axes:
            if axis.name in seen:
                raise ModelError(f"duplicate axis name: {quoted(axis.name)}")
            seen.add(axis.name)
        if not ids:
            return
        size = self.total_size
        if len(ids) != size:
            raise ModelError(
                "the product of the axis sizes must be the number of device ids, "
                f"got: {size} != {len(ids)}"
            )
        if sorted(ids) != list(range(size)):
            raise ModelError(
                f"the sorted device ids must be 0, 1, ..., {size - 1}, "
                f"got: {comma_separated(sorted(ids))}"
            )

    @property
    def total_size(self) -> int:
        """The number of devices: the product of the axis sizes, 1 without axes."""
        return math.prod(axis.size for axis in self.axes)

    def __str__(self) -> str:
        ids = f", device_ids={bracketed(self.device_ids)}" if self.device_ids else ""
        return f"<{bracketed(self.axes)}{ids}>"
