# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forms of reshards: reshards of one form have equal plans, which are computed once.

1. Dimensions that are sharded neither before nor afterwards are left out, unless the tensor is
   partial: partial results may be scattered along them.
2. If shards are even, sizes matter only by their common divisors with the number of shards that all
   axes of the reshard make: a plan may shard a dimension further on its way if axes divide it. They
   don't matter at all if the plan has nothing to slice, or nothing but slices: if the target has no
   other axes than the source, or the source has none. (On a mesh where one of two axis sizes always
   divides the other; otherwise steps between them may be uneven, and the divisors are those with
   the number of devices.)
3. Axes of one size are interchangeable. They get the names of the first such axes of the mesh, in
   the order in which they appear.

Example: on a mesh `<["a"=2, "b"=4, "c"=4]>`, reshards of a `tensor<8x64x16xf32>` from
`[{}, {"c"}, {}]` to `[{}, {}, {}]`, and of a `tensor<12x5xf32>` from `[{"b"}, {}]` to `[{}, {}]`
have one form: a single dimension, from `[{"b"}]` to `[{}]`. The first plan gathers along `c`
instead of `b`, and all bytes are proportional to those of the tensor.

Rules 2 and 3 are for whole axes; with parts of axes, the divisors are those with the number of
devices. Where shards are padded, sizes are part of the form.

A search compares hundreds of thousands of pairs of shardings, so all parts of a form are numbered,
and found by numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from mlir_sdy.model import AxisRef, AxisTuple, Mesh
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.resharding.steps import AxesPerDim


class ReshardForm(NamedTuple):
    """A reshard up to the properties on which its plan does not depend.

    Attributes:
        shape: the global shape; for even shards, one with the same divisors.
        is_padded: whether shards are padded.
        source: the axes of each dimension before.
        target: those afterwards.
        reduced: the axes along which the tensor is partial.
    """

    shape: Shape
    is_padded: bool
    source: AxesPerDim
    target: AxesPerDim
    reduced: AxisTuple = ()


class NamedForm(NamedTuple):
    """A form, and the axes that have other names in it.

    Attributes:
        form: the form.
        names: the axes of the reshard that have other names in the form: `(in the form, its own)`.
    """

    form: ReshardForm
    names: tuple[tuple[str, str], ...]


@dataclass(eq=False, slots=True)
class NumberedSharding:
    """The axes of a tensor, with what forms need of them.

    Attributes:
        axes: the axes of each dimension.
        mask: a bit for each dimension, set if it is sharded.
        order: the number of the tuple of all its axes.
        views: the numbers of the axes of some dimensions with other names, by the mask of the
            dimensions and the number of the names.
    """

    axes: AxesPerDim
    mask: int
    order: int
    views: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])


class _Names(NamedTuple):
    """The names of axes in forms, for an order of the axes before, afterwards and reduced ones.

    Attributes:
        number: its number.
        new: the new axes.
        pairs: the names that differ: `(in the form, own)`.
        reduced: the reduced axes in the form.
        modulus: the number whose common divisors with sizes matter; 0 if sizes don't matter.
    """

    number: int
    new: dict[AxisRef, AxisRef]
    pairs: tuple[tuple[str, str], ...]
    reduced: AxisTuple
    modulus: int


class ReshardForms:
    """Finds and numbers the forms of reshards.

    Args:
        mesh: the mesh.

    Attributes:
        forms: the forms by their numbers.
    """

    def __init__(self, mesh: Mesh) -> None:
        self.forms: list[NamedForm] = []
        self._mesh = mesh
        by_size: dict[int, list[AxisRef]] = {}
        for axis in mesh.axes:
            by_size.setdefault(axis.size, []).append(AxisRef(axis.name))
        self._alike = {ref: refs for refs in by_size.values() for ref in refs}
        sizes = sorted(by_size)
        self._is_nested = all(more % less == 0 for less, more in itertools.pairwise(sizes))
        self._shardings: dict[AxesPerDim, NumberedSharding] = {}
        self._orders: dict[AxisTuple, int] = {}
        self._names: dict[tuple[int, int, AxisTuple], _Names] = {}
        self._views: dict[AxesPerDim, int] = {}
        self._numbers: dict[tuple[Hashable, ...], int] = {}

    def sharding(self, axes: AxesPerDim) -> NumberedSharding:
        """Return the numbers of the axes of a tensor."""
        found = self._shardings.get(axes)
        if found is None:
            mask = sum(1 << dim for dim, own in enumerate(axes) if own)
            order = tuple(axis for own in axes for axis in own)
            number = self._orders.setdefault(order, len(self._orders))
            found = self._shardings[axes] = NumberedSharding(axes, mask, number)
        return found

    def number(
        self,
        shape: Shape,
        source: NumberedSharding,
        target: NumberedSharding,
        reduced: AxisTuple = (),
        *,
        is_padded: bool,
    ) -> int:
        """Return the number of the form of a reshard.

        Args:
            shape: the global shape.
            source: the axes of each dimension before.
            target: those afterwards.
            reduced: the axes along which the tensor is partial.
            is_padded: whether shards are padded.
        """
        key = source.order, target.order, reduced
        names = self._names.get(key)
        if names is None:
            names = self._names[key] = self._names_of(source.axes, target.axes, reduced)
        mask = (1 << len(shape)) - 1 if reduced else source.mask | target.mask
        place = mask, names.number
        before, after = source.views.get(place), target.views.get(place)
        if before is None:
            before = source.views[place] = self._view(source, mask, names)
        if after is None:
            after = target.views[place] = self._view(target, mask, names)
        sizes = shape if is_padded or names.modulus else None
        whole = before, after, mask, names.number, is_padded, sizes
        number = self._numbers.get(whole)
        if number is None:
            form = self._form(shape, source, target, mask, names, is_padded=is_padded)
            number = self._numbers.setdefault(("form", form), len(self.forms))
            self._numbers[whole] = number
            if number == len(self.forms):
                self.forms.append(form)
        return number

    def _form(
        self,
        shape: Shape,
        source: NumberedSharding,
        target: NumberedSharding,
        mask: int,
        names: _Names,
        *,
        is_padded: bool,
    ) -> NamedForm:
        kept = tuple(size for dim, size in enumerate(shape) if mask >> dim & 1)
        if not is_padded:
            modulus = names.modulus
            kept = tuple(
                math.gcd(size, modulus) if modulus else self._mesh.total_size for size in kept
            )
        before, after = (_renamed(each.axes, mask, names.new) for each in (source, target))
        return NamedForm(ReshardForm(kept, is_padded, before, after, names.reduced), names.pairs)

    def _view(self, sharding: NumberedSharding, mask: int, names: _Names) -> int:
        return self._views.setdefault(_renamed(sharding.axes, mask, names.new), len(self._views))

    def _names_of(self, source: AxesPerDim, target: AxesPerDim, reduced: AxisTuple) -> _Names:
        """Return the names of axes in forms, and the divisors that matter."""
        lists = source, target, (reduced,)
        before, after, partial = ([axis for axes in each for axis in axes] for each in lists)
        used = list(dict.fromkeys((*before, *after, *partial)))
        number = len(self._names)
        if not all(axis in self._alike for axis in used):
            return _Names(number, {axis: axis for axis in used}, (), reduced, self._mesh.total_size)
        new: dict[AxisRef, AxisRef] = {}
        for axis in used:
            alike = self._alike[axis]
            new[axis] = alike[sum(self._alike[other] is alike for other in new)]
        pairs = tuple((there.name, own.name) for own, there in new.items() if own != there)
        modulus = self._mesh.total_size
        if self._is_nested and not reduced:
            nothing_sliced = set(after) <= set(before)
            modulus = 0 if nothing_sliced or not before else self._mesh.axes_size(used)
        return _Names(number, new, pairs, tuple(new[axis] for axis in reduced), modulus)


def _renamed(axes: AxesPerDim, mask: int, new: dict[AxisRef, AxisRef]) -> AxesPerDim:
    """Return the axes of the dimensions of a mask, with other names."""
    return tuple(
        tuple(new[axis] for axis in own) for dim, own in enumerate(axes) if mask >> dim & 1
    )
