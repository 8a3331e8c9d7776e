# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways to assign axes to the factors of an operation.

`combinations` chooses one of the lists of axes that each factor may have: those that its tensors
have, for the partitioner, which decides operation by operation (`cheapest_axes`). `assignments`
assigns each axis of a mesh to a factor, or to none, for automatic sharding. Where the choices
permit sub-axes, an axis that doesn't divide what the other axes leave of a factor can be split in
two:

1. The leading part, of the greatest common divisor, shards this factor.
2. The rest shards another factor that it divides, or none.

Example: 4 heads of 64 elements on a mesh `<["x"=8]>`. `x` doesn't divide the heads. They get
`"x":(1)4`, and the elements `"x":(4)2` or nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.model import AxisRef, AxisTuple, Mesh, OpShardingRule, sort_and_merge
from pyshardy.partition.types.factor_axes import FactorAxes, are_disjoint


def combinations(options: Sequence[Sequence[AxisTuple]]) -> Iterator[FactorAxes]:
    """Yield all combinations of an option for each factor that use no axis twice."""

    def extended(chosen: FactorAxes) -> Iterator[FactorAxes]:
        if len(chosen) == len(options):
            yield chosen
            return
        for axes in options[len(chosen)]:
            if all(are_disjoint((axes, other)) for other in chosen):
                yield from extended((*chosen, axes))

    return extended(())


@dataclass(frozen=True, slots=True)
class AxisChoices:
    """The axes that strategies may use.

    Attributes:
        mesh: the mesh.
        names: the names of the axes that may be used, in the order of the mesh.
        orders: other orders of several axes along one dimension.
        uneven: whether axes may shard dimensions that they don't divide.
        sub_axes: whether a part of an axis may shard a dimension that the whole one doesn't divide.
    """

    mesh: Mesh
    names: tuple[str, ...]
    orders: frozenset[AxisTuple] = frozenset()
    uneven: bool = False
    sub_axes: bool = False

    def lists(self, axes: Sequence[str]) -> Iterator[AxisTuple]:
        """Yield the orders of some axes along a dimension; `axes` is in the order of the mesh."""
        listed = tuple(map(AxisRef, axes))
        yield listed
        if len(listed) > 1:
            for other in sorted(self.orders, key=str):
                if len(other) == len(listed) and {*other} == {*listed} and other != listed:
                    yield other

    def permits(self, axes: AxisTuple) -> bool:
        """Whether a dimension may have a list of axes."""
        names = [axis.name for axis in axes]
        if any(name not in self.names for name in names):
            return False
        if any(axis.sub_axis_info is not None for axis in axes):
            return self.sub_axes and axes == sort_and_merge(axes, self.mesh)
        return axes in self.lists(sorted(names, key=self.names.index))


@dataclass(frozen=True, slots=True)
class _Split:
    """An axis that is split between two factors.

    Attributes:
        leading: the factor of the leading part.
        trailing: the factor of the rest; None if nothing is sharded along it.
    """

    leading: int
    trailing: int | None


_Place = int | _Split | None
"""The factor that an axis shards as a whole, its split, or nothing."""


def assignments(
    rule: OpShardingRule, blocked: frozenset[int], choices: AxisChoices, even: frozenset[int]
) -> Iterator[FactorAxes]:
    """Yield the axes of each factor in every assignment.

    Args:
        rule: the rule of the operation.
        blocked: the factors that get no axes.
        choices: the axes.
        even: the factors whose sizes the axes must divide.
    """
    mesh = choices.mesh
    sizes = rule.factor_sizes
    usable = [
        factor for factor in range(rule.num_factors) if factor not in blocked and sizes[factor] > 1
    ]
    names = [name for name in choices.names if mesh.axis_size(name) > 1]
    places = [_places(name, usable, sizes, names, choices) for name in names]
    for assigned in itertools.product(*places):
        per_factor: dict[int, list[str]] = {}
        splits: dict[str, _Split] = {}
        for name, place in zip(names, assigned, strict=True):
            if isinstance(place, _Split):
                splits[name] = place
            elif place is not None:
                per_factor.setdefault(place, []).append(name)
        counts = {
            factor: math.prod(map(mesh.axis_size, axes)) for factor, axes in per_factor.items()
        }
        if any(factor in even and sizes[factor] % count for factor, count in counts.items()):
            continue
        parts = _parts(splits, sizes, counts, mesh)
        if parts is None:
            continue
        lists = [
            [_joined(per_factor.get(factor, ()), parts[factor], mesh)]
            if factor in parts
            else choices.lists(per_factor.get(factor, ()))
            for factor in range(rule.num_factors)
        ]
        yield from itertools.product(*lists)


def _places(
    name: str,
    usable: Sequence[int],
    sizes: Sequence[int],
    names: Sequence[str],
    choices: AxisChoices,
) -> list[_Place]:
    """Return the places that an axis may have, splits last.

    A factor that all axes together divide needs no split, whatever the others are assigned to.

    Args:
        name: the axis.
        usable: the factors that may have axes.
        sizes: the sizes of all factors.
        names: the axes that may be used.
        choices: whether axes may be split.
    """
    found: list[_Place] = [None, *usable]
    if not choices.sub_axes:
        return found
    size = choices.mesh.axis_size(name)
    total = math.prod(map(choices.mesh.axis_size, names))
    for leading in usable:
        if sizes[leading] % total and math.gcd(sizes[leading], size) > 1:
            others: list[int | None] = [each for each in usable if each != leading]
            found += (_Split(leading, trailing) for trailing in (None, *others))
    return found


def _parts(
    splits: Mapping[str, _Split], sizes: Sequence[int], counts: Mapping[int, int], mesh: Mesh
) -> dict[int, list[AxisRef]] | None:
    """Return the sub-axes of each factor; None if an axis needs no split, or its parts don't fit.

    Args:
        splits: the axes that are split.
        sizes: the sizes of the factors.
        counts: the number of shards along whole axes, for factors that have some.
        mesh: the mesh.
    """
    parts: dict[int, list[AxisRef]] = {}
    left: dict[int, int] = {}

    def left_of(factor: int) -> int:
        """Return the size that may still be divided; 1 if whole axes don't divide the factor."""
        if factor not in left:
            size, remainder = divmod(sizes[factor], counts.get(factor, 1))
            left[factor] = 1 if remainder else size
        return left[factor]

    trailing: list[tuple[int, AxisRef]] = []
    for name, split in splits.items():
        size = mesh.axis_size(name)
        leading = math.gcd(left_of(split.leading), size)
        if leading in (1, size):
            return None
        left[split.leading] //= leading
        parts.setdefault(split.leading, []).append(AxisRef.sub(name, 1, leading))
        if split.trailing is not None:
            trailing.append((split.trailing, AxisRef.sub(name, leading, size // leading)))
    for factor, part in trailing:
        if left_of(factor) % part.size(mesh):
            return None
        left[factor] //= part.size(mesh)
        parts.setdefault(factor, []).append(part)
    return parts


def _joined(names: Sequence[str], parts: Sequence[AxisRef], mesh: Mesh) -> AxisTuple:
    """Return whole axes and sub-axes in the order of the mesh."""
    return tuple(sorted((*map(AxisRef, names), *parts), key=mesh.sort_key))
