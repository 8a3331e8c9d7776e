# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choice of the shardings of a reshape's operand and result with the least communication.

Shardy assigns axes to factors, and gathers along the remaining axes. Here its choice is compared
with other candidates:

1. In each group of dimensions (see `reshape_groups`), the operand keeps its axes, and the result
   gets an image of them (see `images`); or the other way round; or both keep their axes;
   or neither is sharded.
2. Between both shardings, the cheapest way is taken (see `crossing`).
3. The cost of a candidate is the time in which devices reshard the operand, move data through the
   reshape, and reshard the result. The candidate with the shortest transfer is taken, and of
   several the one with the lowest latency; Shardy's choice unless another one is better.

Example: on a mesh `<["x"=4]>`, a replicated (64, 5, 3) is reshaped to (64, 15), sharded by
`[{}, {"x"}]`. As `x` fits neither 5 nor 3, Shardy shards the operand by `[{"x"}, {}, {}]`, and
the result has to be resharded by an all-to-all. Here the result is sliced.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, Mesh, TensorSharding
from pyshardy.cost.collectives import Traffic
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import element_bytes, shape_of
from pyshardy.partition.halo.reshape import cheapest_crossing
from pyshardy.partition.halo.reshard import exchanging_reshard_traffic
from pyshardy.partition.resharding.cost import Reshard
from pyshardy.partition.types.compatible_shardings import (
    CompatibleShardings,
    Shardings,
    is_plain,
)
from pyshardy.partition.types.factor_axes import are_disjoint
from pyshardy.partition.types.reshapes import Group, Side, images, reshape_groups
from pyshardy.partition.types.steps import AxesPerDim

_MOST_ANSWERS = 256
"""The limit on the number of candidates; above it, Shardy's choice is taken."""

_Answer = tuple[AxesPerDim, AxesPerDim]
"""The axes of all dimensions of the operand, and of the result."""


def cheapest_reshape(
    reshape: ir.Operation,
    shardings: Shardings,
    compatible: CompatibleShardings,
    meshes: Mapping[str, Mesh],
    hardware: Hardware,
) -> CompatibleShardings:
    """Return compatible shardings of the operand and the result of a reshape.

    Args:
        reshape: the reshape.
        shardings: those of its operand and its result.
        compatible: the compatible shardings by factors.
        meshes: the meshes of the module by name.
        hardware: the devices and links.
    """
    name = compatible.mesh_or_ref
    mesh = meshes.get(name) if isinstance(name, str) else name
    shapes = shape_of(reshape.operands[0].type), shape_of(reshape.results[0].type)
    chosen = tuple(new or old for new, old in zip(compatible.shardings, shardings, strict=True))
    is_static = all(size > 0 for shape in shapes for size in shape)
    if mesh is None or mesh.is_maximal or not is_static:
        return compatible
    if not all(_can_be_judged(each, name) for each in (*shardings, *chosen)):
        return compatible
    now, proposed = (
        tuple(_axes(each, shape) for each, shape in zip(some, shapes, strict=True))
        for some in (shardings, chosen)
    )
    sides = Side(shapes[0], now[0]), Side(shapes[1], now[1])
    judge = _Judge(sides, element_bytes(reshape.results[0].type), mesh, hardware)
    best = judge.best((proposed[0], proposed[1]))
    if best == proposed:
        return compatible
    new = [
        None if axes == old else TensorSharding.from_axes(name, axes)
        for axes, old in zip(best, now, strict=True)
    ]
    return CompatibleShardings(tuple(new), (), name)


@dataclass(frozen=True, slots=True)
class _Judge:
    """The communication of candidates.

    Attributes:
        sides: operand and result with their current shardings.
        nbytes: the bytes of an element.
        mesh: the mesh of both.
        hardware: the devices and links.
    """

    sides: tuple[Side, Side]
    nbytes: int
    mesh: Mesh
    hardware: Hardware

    def best(self, proposed: _Answer) -> _Answer:
        """Return the cheapest candidate; the proposed candidate if none is cheaper."""
        best, lowest = proposed, self.traffic(proposed)
        if lowest == Traffic():
            return best
        source, target = self.sides
        groups = reshape_groups(source.shape, target.shape)
        options = [self._options(group) for group in groups]
        if math.prod(map(len, options)) > _MOST_ANSWERS:
            return best
        for choice in itertools.product(*options):
            answer = (
                tuple(itertools.chain.from_iterable(before for before, _ in choice)),
                tuple(itertools.chain.from_iterable(after for _, after in choice)),
            )
            if not all(map(are_disjoint, answer)):
                continue
            traffic = self.traffic(answer)
            if traffic < lowest:
                best, lowest = answer, traffic
        return best

    def traffic(self, answer: _Answer) -> Traffic:
        """Return the communication of a candidate."""
        source, target = self.sides
        before, after = Side(source.shape, answer[0]), Side(target.shape, answer[1])
        crossing = cheapest_crossing(
            before, after, self.nbytes, self.mesh, self.hardware, exchanges=True
        )
        # Slicing a replicated result after the reshape is free.
        between = self._reshard(before, ((),) * len(source.shape))
        if crossing is not None:
            between = min(between, crossing.traffic)
        return self._reshard(source, before.axes) + between + self._reshard(after, target.axes)

    def _reshard(self, side: Side, axes: AxesPerDim) -> Traffic:
        reshard = Reshard(side.shape, self.nbytes, side.axes, axes, self.mesh)
        return exchanging_reshard_traffic(reshard, self.hardware)

    def _options(self, group: Group) -> list[_Answer]:
        """Return the axes that the dimensions of a group may have on both sides."""
        source, target = self.sides
        before, after = (
            tuple(side.axes[dim] for dim in dims)
            for side, dims in zip(self.sides, group, strict=True)
        )
        back = group[1], group[0]
        found: list[_Answer] = [(before, after)]
        forward = images(source.axes, source.shape, group, target.shape, self.mesh)
        found += [(before, image) for image in forward]
        found += [
            (image, after)
            for image in images(target.axes, target.shape, back, source.shape, self.mesh)
        ]
        for image in forward:
            axes: list[AxisTuple] = [()] * len(target.shape)
            axes[group[1].start : group[1].stop] = image
            again = images(tuple(axes), target.shape, back, source.shape, self.mesh)
            found += [(each, image) for each in again]
        found.append((((),) * len(before), ((),) * len(after)))
        return list(dict.fromkeys(found))


def _axes(sharding: TensorSharding | None, shape: Sequence[int]) -> AxesPerDim:
    return ((),) * len(shape) if sharding is None else tuple(sharding.dim_axes)


def _can_be_judged(sharding: TensorSharding | None, mesh_or_ref: str | Mesh) -> bool:
    """Whether a sharding is on the mesh, and has axes of dimensions only."""
    if sharding is None:
        return True
    if sharding.unreduced_axes or sharding.replicated_axes:
        return False
    return is_plain(sharding) or sharding.mesh_or_ref == mesh_or_ref
