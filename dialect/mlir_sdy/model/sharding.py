# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings: the distribution of the dimensions of a tensor over the axes of a mesh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.axis_lists import ordered_refs, sort_and_merge
from mlir_sdy.model.enums import ReductionOp
from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.hashing import HashSlot, hash_once
from mlir_sdy.model.mesh import Mesh
from mlir_sdy.model.text import braced, bracketed, symbol

Shape = tuple[int, ...]
"""The sizes of the dimensions of a tensor; dynamic ones are negative."""


@hash_once
@dataclass(frozen=True, slots=True, repr=False)
class DimensionSharding(HashSlot):
    """The axes that shard a dimension, major to minor: `{"x", "y"}`, open `{"x", ?}p1`.

    Propagation may append axes to an *open* dimension, but not to a *closed* one. A dimension of
    a lower priority number is propagated earlier; no priority means 0, but is a different value.
    """

    axes: tuple[AxisRef, ...] = ()
    is_closed: bool = False
    priority: int | None = None

    @property
    def effective_priority(self) -> int:
        """The priority in propagation: 0 if none is given."""
        return 0 if self.priority is None else self.priority

    def sharded_size(self, mesh: Mesh) -> int:
        """Return the number of shards of the dimension."""
        return mesh.axes_size(self.axes)

    def closed(self) -> DimensionSharding:
        """The same axes and priority, closed."""
        return self if self.is_closed else DimensionSharding(self.axes, True, self.priority)

    def opened(self) -> DimensionSharding:
        """The same axes and priority, open."""
        return DimensionSharding(self.axes, False, self.priority) if self.is_closed else self

    def with_axes(self, axes: tuple[AxisRef, ...]) -> DimensionSharding:
        """Other axes with the same closedness, and the same priority where that is possible."""
        has_priority = axes or not self.is_closed
        return DimensionSharding(axes, self.is_closed, self.priority if has_priority else None)

    def __str__(self) -> str:
        axes = braced(self.axes if self.is_closed else (*self.axes, "?"))
        return axes if self.priority is None else f"{axes}p{self.priority}"


def _as_ref(axis: str | AxisRef) -> AxisRef:
    return AxisRef(axis) if isinstance(axis, str) else axis


_OPEN = DimensionSharding()
_CLOSED = DimensionSharding(is_closed=True)


class _AxesSlot(HashSlot):
    """Base of `TensorSharding` with the slot of `dim_axes`, which is no field."""

    __slots__ = ("_dim_axes",)
    _dim_axes: tuple[tuple[AxisRef, ...], ...]


@hash_once
@dataclass(frozen=True, slots=True, repr=False)
class TensorSharding(_AxesSlot):
    """The distribution of a tensor on a mesh: `<@mesh, [{"x"}, {?}], replicated={"y"}>`.

    Attributes:
        mesh_or_ref: the mesh, or the name of its symbol (without `@`).
        dim_shardings: the sharding of each dimension of the tensor.
        replicated_axes: axes that must not shard any dimension.
        unreduced_axes: axes along which the shards hold partial results.
        reduction_kind: the reduction of partial results; always `SUM` without unreduced axes,
            since the text does not contain it then.
    """

    mesh_or_ref: str | Mesh
    dim_shardings: tuple[DimensionSharding, ...]
    replicated_axes: tuple[AxisRef, ...] = ()
    unreduced_axes: tuple[AxisRef, ...] = ()
    reduction_kind: ReductionOp = ReductionOp.SUM

    def __post_init__(self) -> None:
        if self.reduction_kind is not ReductionOp.SUM and not self.unreduced_axes:
            object.__setattr__(self, "reduction_kind", ReductionOp.SUM)

    # --- Builders ---------------------------------------------------------------------------

    @classmethod
    def fully_open(cls, rank: int, mesh_or_ref: str | Mesh) -> TensorSharding:
        """Return the sharding with `{?}` for each dimension."""
        return cls(mesh_or_ref, (_OPEN,) * rank)

    @classmethod
    def fully_closed(cls, rank: int, mesh_or_ref: str | Mesh) -> TensorSharding:
        """Return the sharding with `{}` for each dimension."""
        return cls(mesh_or_ref, (_CLOSED,) * rank)

    @classmethod
    def from_axes(
        cls,
        mesh_or_ref: str | Mesh,
        axes_per_dim: Iterable[tuple[AxisRef, ...]],
        unreduced_axes: tuple[AxisRef, ...] = (),
    ) -> TensorSharding:
        """The closed sharding with the given axes for each dimension and no priorities."""
        dims = tuple(DimensionSharding(axes, True) for axes in axes_per_dim)
        return cls(mesh_or_ref, dims, unreduced_axes=unreduced_axes)

    def fully_open_like(self) -> TensorSharding:
        """The fully open sharding of the same rank and mesh."""
        return TensorSharding.fully_open(self.rank, self.mesh_or_ref)

    def fully_closed_like(self) -> TensorSharding:
        """The fully closed sharding of the same rank and mesh."""
        return TensorSharding.fully_closed(self.rank, self.mesh_or_ref)

    def closed_like(self) -> TensorSharding:
        """The same axes and priorities, all closed; explicit replication is dropped."""
        return TensorSharding(
            self.mesh_or_ref,
            tuple(dim.closed() for dim in self.dim_shardings),
            (),
            self.unreduced_axes,
            self.reduction_kind,
        )

    def with_dims(self, dim_shardings: tuple[DimensionSharding, ...]) -> TensorSharding:
        """Return the sharding with the shardings of all dimensions replaced."""
        return TensorSharding(
            self.mesh_or_ref,
            dim_shardings,
            self.replicated_axes,
            self.unreduced_axes,
            self.reduction_kind,
        )

    def with_dim(self, dim: int, dim_sharding: DimensionSharding) -> TensorSharding:
        """Return the sharding with the sharding of one dimension replaced."""
        return self.with_dims_replaced({dim: dim_sharding})

    def with_dims_replaced(self, dim_shardings: Mapping[int, DimensionSharding]) -> TensorSharding:
        """Return the sharding with the shardings of some dimensions replaced."""
        dims = list(self.dim_shardings)
        for dim, dim_sharding in dim_shardings.items():
            dims[dim] = dim_sharding
        return self.with_dims(tuple(dims))

    def with_replicated_axes(self, axes: tuple[AxisRef, ...]) -> TensorSharding:
        """The same sharding with other replicated axes."""
        return replace(self, replicated_axes=axes)

    def with_unreduced_axes(self, axes: tuple[AxisRef, ...]) -> TensorSharding:
        """The same sharding with other unreduced axes of the same kind."""
        return replace(self, unreduced_axes=axes)

    def with_mesh(self, mesh_or_ref: str | Mesh) -> TensorSharding:
        """Return the sharding on another mesh, such as the mesh of a name."""
        return replace(self, mesh_or_ref=mesh_or_ref)

    # --- Editing ----------------------------------------------------------------------------

    def close(self, *dims: int) -> TensorSharding:
        """The same sharding with the given dimensions closed: all of them if none is given."""
        dims = dims or tuple(range(self.rank))
        return self.with_dims_replaced({dim: self._dim(dim).closed() for dim in dims})

    def open(self, *dims: int) -> TensorSharding:
        """The same sharding with the given dimensions open: all of them if none is given."""
        dims = dims or tuple(range(self.rank))
        return self.with_dims_replaced({dim: self._dim(dim).opened() for dim in dims})

    def with_axis(self, dim: int, axis: str | AxisRef, *, force: bool = False) -> TensorSharding:
        """The same sharding with one more axis, the most minor, on a dimension.

        Args:
            dim: the dimension, which keeps its priority.
            axis: the name of an axis, or a ref to one or to a part of one.
            force: whether a closed dimension takes the axis, too; it stays closed.

        Raises:
            ModelError: If the axis is bound already, at least in part, if it directly follows the
                part of it that the dimension ends with (the two are written as one), or if the
                dimension is closed and `force` is not set.
        """
        ref = _as_ref(axis)
        dim_sharding = self._dim(dim)
        if dim_sharding.is_closed and not force:
            raise ModelError(f"dimension {dim} of {self} is closed; open it, or pass force=True")
        self._check_free(ref)
        if dim_sharding.axes and dim_sharding.axes[-1].can_merge(ref):
            raise ModelError(f"{ref} directly follows {dim_sharding.axes[-1]}: merge them")
        return self.with_dim(dim, dim_sharding.with_axes((*dim_sharding.axes, ref)))

    def without_axis(self, axis: str | AxisRef) -> TensorSharding:
        """Return the sharding without an axis and all its parts.

        Raises:
            ModelError: If `axis` is a sub-axis, and the sharding uses a larger part of the axis.
        """
        removed = _as_ref(axis)
        for used in self.all_axes():
            if used.overlaps(removed) and not removed.contains(used):
                raise ModelError(f"cannot remove {removed} from {used} in {self}")

        def kept(axes: tuple[AxisRef, ...]) -> tuple[AxisRef, ...]:
            return tuple(axis for axis in axes if not removed.contains(axis))

        return replace(
            self,
            dim_shardings=tuple(dim.with_axes(kept(dim.axes)) for dim in self.dim_shardings),
            replicated_axes=kept(self.replicated_axes),
            unreduced_axes=kept(self.unreduced_axes),
        )

    def replicated_on(self, axis: str | AxisRef, mesh: Mesh) -> TensorSharding:
        """Return the sharding with an axis added to the replicated ones, in the order of the mesh.

        Raises:
            ModelError: If the axis is bound already, at least in part.
        """
        ref = _as_ref(axis)
        self._check_free(ref)
        return self.with_replicated_axes(sort_and_merge((*self.replicated_axes, ref), mesh))

    def _dim(self, dim: int) -> DimensionSharding:
        if not 0 <= dim < self.rank:
            raise ModelError(f"{self} has no dimension {dim}: its rank is {self.rank}")
        return self.dim_shardings[dim]

    def _check_free(self, axis: AxisRef) -> None:
        for used in self.all_axes():
            if used.overlaps(axis):
                what = "axis" if axis.sub_axis_info is None else "sub-axis"
                where = "" if used == axis else f" as {used}"
                raise ModelError(f"{what} {axis} is already used{where} in {self}")
            if not used.can_coexist(axis):
                raise ModelError(f"sub-axes {used} and {axis} cannot both be used in {self}")

    # --- Queries ----------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dim_shardings)

    @property
    def dim_axes(self) -> tuple[tuple[AxisRef, ...], ...]:
        """The axes of each dimension."""
        try:
            return self._dim_axes
        except AttributeError:
            axes = tuple([dim.axes for dim in self.dim_shardings])
            object.__setattr__(self, "_dim_axes", axes)
            return axes

    def all_axes(self) -> Iterator[AxisRef]:
        """All refs: those of the dimensions, then the replicated and the unreduced ones."""
        for dim in self.dim_shardings:
            yield from dim.axes
        yield from self.replicated_axes
        yield from self.unreduced_axes

    @property
    def is_fully_closed(self) -> bool:
        """Whether every dimension is closed."""
        return all(dim.is_closed for dim in self.dim_shardings)

    @property
    def is_fully_replicated(self) -> bool:
        """Whether no dimension has axes; replicated and unreduced ones are ignored."""
        return not any(dim.axes for dim in self.dim_shardings)

    @property
    def is_fully_replicated_and_open(self) -> bool:
        """Whether every dimension is open and has no axes."""
        return not any(dim.axes or dim.is_closed for dim in self.dim_shardings)

    @property
    def is_unconstrained(self) -> bool:
        """Whether the tensor has dimensions, all are open, and there are no axes at all."""
        return bool(self.dim_shardings) and self.is_fully_replicated_and_open and self.has_no_axes

    @property
    def has_no_axes(self) -> bool:
        """Whether there are no axes at all, replicated and unreduced ones included."""
        return self.is_fully_replicated and not self.replicated_axes and not self.unreduced_axes

    def is_axis_bound(self, name: str) -> bool:
        """Whether any part of the axis `name` is mentioned."""
        return any(axis.name == name for axis in self.all_axes())

    def can_shard(self, dim: int, name: str) -> bool:
        """Whether the axis `name` is free and the dimension open."""
        return not self.dim_shardings[dim].is_closed and not self.is_axis_bound(name)

    def can_replicate(self, name: str) -> bool:
        """Whether the axis `name` is free."""
        return not self.is_axis_bound(name)

    def ordered_refs(self, mesh: Mesh) -> tuple[AxisRef, ...]:
        """All axes of the mesh, cut at the parts in the dimensions and the unreduced axes."""
        mentioned = [axis for dim in self.dim_shardings for axis in dim.axes]
        return ordered_refs(mesh, (*mentioned, *self.unreduced_axes))

    # --- Shapes -----------------------------------------------------------------------------

    def sharded_sizes(self, mesh: Mesh) -> tuple[int, ...]:
        """Return the number of shards of each dimension."""
        return tuple(mesh.axes_size(dim.axes) for dim in self.dim_shardings)

    def local_shape(self, shape: Shape, mesh: Mesh) -> Shape:
        """Return the shape of a shard: each size divided by the number of shards, rounded up.

        Dynamic sizes, which are negative, are kept, and so is the shape if the sharding has no
        dimensions, as on a maximal mesh.

        On a mesh `<["x"=4, "y"=3]>`, a shape (10, 7) with `[{"x"}, {"y"}]` gives (3, 3).
        """
        if not self.dim_shardings:
            return shape
        return tuple(
            size if size < 0 else -(-size // num_shards)
            for size, num_shards in zip(shape, self.sharded_sizes(mesh), strict=True)
        )

    def divides(self, shape: Shape, mesh: Mesh) -> bool:
        """Whether each static size is a multiple of the number of shards: no padding is needed."""
        if not self.dim_shardings:
            return True
        sizes = zip(shape, self.sharded_sizes(mesh), strict=True)
        return all(size < 0 or size % num_shards == 0 for size, num_shards in sizes)

    def global_shape(self, local_shape: Shape, mesh: Mesh) -> Shape:
        """The shape of a tensor with shards of the given shape, which includes their padding.

        On a mesh `<["x"=4, "y"=3]>`, a local shape (3, 3) with `[{"x"}, {"y"}]` gives (12, 9).
        """
        if not self.dim_shardings:
            return local_shape
        return tuple(
            size if size < 0 else size * num_shards
            for size, num_shards in zip(local_shape, self.sharded_sizes(mesh), strict=True)
        )

    def __str__(self) -> str:
        mesh = self.mesh_or_ref
        mesh_text = symbol(mesh) if isinstance(mesh, str) else f"mesh{mesh}"
        clauses = [mesh_text, bracketed(self.dim_shardings)]
        if self.replicated_axes:
            clauses.append(f"replicated={braced(self.replicated_axes)}")
        if self.unreduced_axes:
            kind = "" if self.reduction_kind is ReductionOp.SUM else self.reduction_kind.keyword
            clauses.append(f"unreduced={kind}{braced(self.unreduced_axes)}")
        return f"<{', '.join(clauses)}>"


@hash_once
@dataclass(frozen=True, slots=True, repr=False)
class TensorShardingPerValue(HashSlot):
    """The shardings of several values: `<[<@mesh, [{"x"}]>, <@mesh, []>]>`."""

    shardings: tuple[TensorSharding, ...] = ()

    def __str__(self) -> str:
        return f"<{bracketed(self.shardings)}>"

    @classmethod
    def fully_open(cls, ranks: Iterable[int], mesh_or_ref: str | Mesh) -> TensorShardingPerValue:
        """A fully open sharding for each value, given by its rank."""
        return cls(tuple(TensorSharding.fully_open(rank, mesh_or_ref) for rank in ranks))

    @classmethod
    def fully_closed(cls, ranks: Iterable[int], mesh_or_ref: str | Mesh) -> TensorShardingPerValue:
        """A fully closed sharding for each value, given by its rank."""
        return cls(tuple(TensorSharding.fully_closed(rank, mesh_or_ref) for rank in ranks))
