# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings: how the dimensions of a tensor are laid out over the axes of a mesh."""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.enums import ReductionOp
from mlir_sdy.model.hashing import HashedOnce
from mlir_sdy.model.mesh import Mesh
from mlir_sdy.model.text import braced, bracketed, symbol


@dataclass(frozen=True, slots=True)
class DimensionSharding(HashedOnce):
    """The axes that shard a dimension, major to minor: `{"x", "y"}`, open `{"x", ?}p1`.

    Propagation may append axes to an *open* dimension, but not to a *closed* one. A dimension of
    a lower priority number is propagated earlier; no priority means the same as 0, yet is another
    value.
    """

    __hash__ = HashedOnce.__hash__

    axes: tuple[AxisRef, ...] = ()
    is_closed: bool = False
    priority: int | None = None

    def __str__(self) -> str:
        axes = braced(self.axes if self.is_closed else (*self.axes, "?"))
        return axes if self.priority is None else f"{axes}p{self.priority}"


@dataclass(frozen=True, slots=True)
class TensorSharding(HashedOnce):
    """How a tensor is laid out on a mesh: `<@mesh, [{"x"}, {?}], replicated={"y"}>`.

    Attributes:
        mesh_or_ref: the mesh, or the name of its symbol (without `@`).
        dim_shardings: the sharding of each dimension of the tensor.
        replicated_axes: axes that must not shard any dimension.
        unreduced_axes: axes along which the shards hold partial values.
        reduction_kind: how the partial values combine; always `SUM` without unreduced axes, as
            the text could not tell otherwise.
    """

    __hash__ = HashedOnce.__hash__

    mesh_or_ref: str | Mesh
    dim_shardings: tuple[DimensionSharding, ...]
    replicated_axes: tuple[AxisRef, ...] = ()
    unreduced_axes: tuple[AxisRef, ...] = ()
    reduction_kind: ReductionOp = ReductionOp.SUM

    def __post_init__(self) -> None:
        if self.reduction_kind is not ReductionOp.SUM and not self.unreduced_axes:
            object.__setattr__(self, "reduction_kind", ReductionOp.SUM)

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


@dataclass(frozen=True, slots=True)
class TensorShardingPerValue(HashedOnce):
    """The shardings of several values: `<[<@mesh, [{"x"}]>, <@mesh, []>]>`."""

    __hash__ = HashedOnce.__hash__

    shardings: tuple[TensorSharding, ...] = ()

    def __str__(self) -> str:
        return f"<{bracketed(self.shardings)}>"
