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
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from mlir_sdy.model import AxisRef, AxisTuple, Mesh, Shape
from pyshardy.partition.types.steps import AxesPerDim

_Key = TypeVar("_Key", bound=Hashable)


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
        order: all its axes.
        order_number: the number of this tuple.
        views: the numbers of the axes of some dimensions with other names, by the mask of the
            dimensions, and the number of the tuple of the new axes.
    """

    axes: AxesPerDim
    mask: int
    order: AxisTuple
    order_number: int
    views: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])


class _Names(NamedTuple):
    """The names of axes in the forms of reshards with some axes before, afterwards, and reduced.

    Attributes:
        new: the new axes.
        source: the number of the tuple of those before.
        target: that of those afterwards.
        reduced: the reduced axes in the form.
        pairs: the names that differ: `(in the form, own)`.
        number: the number of the last two.
        modulus: the number whose common divisors with sizes matter; 0 if sizes don't matter.
    """

    new: dict[AxisRef, AxisRef]
    source: int
    target: int
    reduced: AxisTuple
    pairs: tuple[tuple[str, str], ...]
    number: int
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
        self._names: dict[tuple[int, int, AxisTuple], _Names] = {}
        self._sizes: dict[tuple[Shape, int, int], Shape] = {}
        self._numbers: dict[tuple[Hashable, ...], int] = {}
        self._orders: dict[AxisTuple, int] = {}
        self._views: dict[AxesPerDim, int] = {}
        self._renamings: dict[tuple[Hashable, ...], int] = {}

    def sharding(self, axes: AxesPerDim) -> NumberedSharding:
        """Return the numbers of the axes of a tensor."""
        found = self._shardings.get(axes)
        if found is None:
            mask = sum(1 << dim for dim, own in enumerate(axes) if own)
            order = tuple(axis for own in axes for axis in own)
            found = NumberedSharding(axes, mask, order, _number_in(self._orders, order))
            self._shardings[axes] = found
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
        key = source.order_number, target.order_number, reduced
        names = self._names.get(key)
        if names is None:
            names = self._names[key] = self._names_of(source.order, target.order, reduced)
        mask = (1 << len(shape)) - 1 if reduced else source.mask | target.mask
        modulus = -1 if is_padded else names.modulus
        sizes = self._sizes.get((shape, mask, modulus))
        if sizes is None:
            sizes = self._sizes[shape, mask, modulus] = self._sizes_of(shape, mask, modulus)
        before = source.views.get((mask, names.source))
        if before is None:
            before = self._view(source, mask, names.source, names.new)
        after = target.views.get((mask, names.target))
        if after is None:
            after = self._view(target, mask, names.target, names.new)
        whole = sizes, is_padded, before, after, names.number
        number = self._numbers.get(whole)
        if number is None:
            number = self._numbers[whole] = len(self.forms)
            axes = [_renamed(each.axes, mask, names.new) for each in (source, target)]
            form = ReshardForm(sizes, is_padded, axes[0], axes[1], names.reduced)
            self.forms.append(NamedForm(form, names.pairs))
        return number

    def _sizes_of(self, shape: Shape, mask: int, modulus: int) -> Shape:
        """Return the sizes in forms of the dimensions of a mask.

        Args:
            shape: the global shape.
            mask: the dimensions.
            modulus: the number whose common divisors with sizes matter; 0 if sizes don't matter;
                negative if the sizes themselves matter.
        """
        sizes = (size for dim, size in enumerate(shape) if mask >> dim & 1)
        if modulus < 0:
            return tuple(sizes)
        return tuple(
            math.gcd(size, modulus) if modulus else self._mesh.total_size for size in sizes
        )

    def _view(
        self, sharding: NumberedSharding, mask: int, names: int, new: Mapping[AxisRef, AxisRef]
    ) -> int:
        """Return the number of the axes of the dimensions of a mask, with other names."""
        number = _number_in(self._views, _renamed(sharding.axes, mask, new))
        sharding.views[mask, names] = number
        return number

    def _names_of(self, source: AxisTuple, target: AxisTuple, reduced: AxisTuple) -> _Names:
        """Return the names of axes in forms, and the divisors that matter.

        Args:
            source: all axes before.
            target: all axes afterwards.
            reduced: the axes along which the tensor is partial.
        """
        used = dict.fromkeys((*source, *target, *reduced))
        new = {axis: axis for axis in used}
        modulus = self._mesh.total_size
        if all(axis in self._alike for axis in used):
            seen: Counter[int] = Counter()
            for axis in used:
                alike = self._alike[axis]
                new[axis] = alike[seen[id(alike)]]
                seen[id(alike)] += 1
            if self._is_nested and not reduced:
                is_free = not source or {*target} <= {*source}
                modulus = 0 if is_free else self._mesh.axes_size(used)
        before, after, partial = (
            tuple(new[axis] for axis in axes) for axes in (source, target, reduced)
        )
        pairs = tuple((there.name, own.name) for own, there in new.items() if own != there)
        return _Names(
            new,
            _number_in(self._orders, before),
            _number_in(self._orders, after),
            partial,
            pairs,
            _number_in(self._renamings, (pairs, partial)),
            modulus,
        )


def _renamed(axes: AxesPerDim, mask: int, new: Mapping[AxisRef, AxisRef]) -> AxesPerDim:
    """Return the axes of the dimensions of a mask, with other names."""
    return tuple(
        tuple(new[axis] for axis in own) for dim, own in enumerate(axes) if mask >> dim & 1
    )


def _number_in(numbers: dict[_Key, int], key: _Key) -> int:
    """Return the number of a key, which is the next one if the key is new."""
    return numbers.setdefault(key, len(numbers))
