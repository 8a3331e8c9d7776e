# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for lists of axes: existence, single use, order, and compatible sub-axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mlir_sdy.diagnostics import Part
from mlir_sdy.model import AxisRef, Mesh
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.verify.violation import ConstraintViolation, inside


def unknown_axis(name: str, mesh: Mesh) -> str:
    """Return the message for an axis that the mesh doesn't have."""
    known = ", ".join(f'"{each}"' for each in mesh.axis_names)
    axes = f"the axes {known}" if known else "no axes"
    advice = did_you_mean(name, mesh.axis_names, mark='"')
    return f'unknown axis name: "{name}"; the mesh has {axes}{advice}'


def _name_of(axes: Sequence[AxisRef], position: int) -> Part:
    """Return the name of an axis of a list as a part of the text of the list."""
    name = axes[position].name
    return Part("text", f'"{name}"', sum(each.name == name for each in axes[:position]))


class AxisUse:
    """The axes of `mesh` that a sharding, or a collective, has used so far."""

    def __init__(self, mesh: Mesh):
        self.mesh = mesh
        self.seen: dict[AxisRef, str] = {}
        self.sub_axes: dict[str, list[AxisRef]] = {}

    def check_list(self, axes: Sequence[AxisRef], where: str = "this list") -> None:
        """Check a list, major to minor, and mark its axes as used; `where` names it in messages.

        1. Each name is an axis of the mesh.
        2. No axis is used twice, in this list or an earlier one.
        3. No two neighbours could be merged: `"x":(1)2, "x":(2)4` must be written `"x":(1)8`.

        Raises:
            Violation: the first rule that is broken.
        """
        previous: AxisRef | None = None
        for position, axis in enumerate(axes):
            if not self.mesh.has_axis(axis.name):
                raise ConstraintViolation(
                    unknown_axis(axis.name, self.mesh), parts=[_name_of(axes, position)]
                )
            if axis in self.seen:
                raise ConstraintViolation(
                    f"duplicate axis ref: {axis} in {where} is used in {self.seen[axis]} already",
                    parts=[_name_of(axes, position)],
                )
            self.seen[axis] = where
            if axis.sub_axis_info is not None:
                self.sub_axes.setdefault(axis.name, []).append(axis)
                if previous is not None and previous.can_merge(axis):
                    merged = previous.merge(axis, self.mesh)
                    raise ConstraintViolation(
                        f"two consecutive sub-axes can be merged: {previous}, {axis}; "
                        f"write {merged}",
                        parts=[_name_of(axes, position)],
                    )
            previous = axis

    def check_sorted_list(self, axes: Sequence[AxisRef], kind: str) -> None:
        """Check a list that must follow the order of the mesh; `kind` names it in the message.

        Raises:
            Violation: it does not, or a rule of `check_list` is broken.
        """
        for earlier, later in pairwise(axes):
            known = self.mesh.has_axis(earlier.name) and self.mesh.has_axis(later.name)
            if known and self.mesh.sort_key(later) < self.mesh.sort_key(earlier):
                raise ConstraintViolation(
                    f"{kind} axes are not ordered w.r.t. mesh: {later} belongs before {earlier}",
                    parts=[Part("text", f'"{later.name}"')],
                )
        self.check_list(axes, f"the {kind} axes")

    def check_sub_axes(self) -> None:
        """Check that the sub-axes of each axis, from all lists, fit it and do not overlap.

        For an axis of size F and its sub-axes `(m)k` in the order of the mesh:

        1. The full axis is not used as well.
        2. m is at least 1, k greater than 1 and not F, and F divisible by m * k.
        3. It does not overlap the previous sub-axis.

        Raises:
            Violation: the first rule that is broken.
        """
        for name, sub_axes in self.sub_axes.items():
            self._check_sub_axes_of(name, sorted(sub_axes, key=self.mesh.sort_key))

    def _check_sub_axes_of(self, name: str, sub_axes: list[AxisRef]) -> None:
        size = self.mesh.axis_size(name)
        if AxisRef(name) in self.seen:
            raise ConstraintViolation(
                f'both sub-axis and full-axis are used for axis name: "{name}"',
                parts=[Part("text", f'"{name}"')],
            )
        with inside(Part("text", f'"{name}"')):
            _check_fit(sub_axes, size)


def _check_fit(sub_axes: Sequence[AxisRef], size: int) -> None:
    """Check rules 2 and 3 of `AxisUse.check_sub_axes` for an axis of some size."""
    previous: AxisRef | None = None
    for axis in sub_axes:
        info = axis.sub_axis_info
        assert info is not None, "only sub-axes are recorded"
        if info.pre_size < 1:
            raise ConstraintViolation(f"sub-axis pre-size must be at least 1: {axis}")
        if info.size <= 1:
            raise ConstraintViolation(f"sub-axis sizes must be greater than 1: {axis}")
        if size % info.next_pre_size:
            raise ConstraintViolation(
                f"sub-axis next pre-size {info.next_pre_size} doesn't divide the size of the full "
                f"axis {size}: {axis}; the next pre-size is the pre-size times the size"
            )
        if info.size == size:
            raise ConstraintViolation(
                f'sub-axis size is equal to the full axis size: {axis}; write "{axis.name}"'
            )
        if previous is not None and previous.overlaps(axis):
            raise ConstraintViolation(f"overlapping sub-axes: {previous}, {axis}")
        previous = axis
