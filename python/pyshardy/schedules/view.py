# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program as tactics see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.suggest import did_you_mean, unmatched_pattern
from pyshardy.irtools.named_values import matches


@dataclass(frozen=True, slots=True)
class TacticValue:
    """An argument or a result of a program, or a value inside of it.

    Attributes:
        name: its name in the source: `params['w']`; else `arg2`, `result 0`, or that in the text of
            the program: `%5`.
        shape: its sizes.
        sharding: its sharding after the tactics before; None without one.
        free_dims: the dimensions of an argument that its first matrix product keeps: the columns of
            a weight. Empty if no product uses it.
        batch_dims: the batching dimensions of this product.
        indexed_dims: the dimensions that its first lookup indexes: the rows of an embedding table.
    """

    name: str
    shape: tuple[int, ...]
    sharding: TensorSharding | None
    free_dims: tuple[int, ...] = ()
    batch_dims: tuple[int, ...] = ()
    indexed_dims: tuple[int, ...] = ()

    def axes_of(self, dim: int) -> tuple[str, ...]:
        """Return the names of the axes of a dimension."""
        axes = () if self.sharding is None else self.sharding.dim_axes[dim]
        return tuple(axis.name for axis in axes)

    def has_axis(self, axis: str) -> bool:
        """Whether an axis shards a dimension."""
        return any(axis in self.axes_of(dim) for dim in range(len(self.shape)))


@dataclass(frozen=True, slots=True)
class TacticProgram:
    """The arguments and results of a program, and its mesh.

    Attributes:
        arguments: the arguments of `@main`, in order.
        results: its results.
        mesh: the mesh of the shardings.
        module: the program as it was annotated, without the tactics before.
        partial: for each axis the results of matrix products and lookups that are sums of partial
            results along it, in the order of the text.
    """

    arguments: Sequence[TacticValue]
    results: Sequence[TacticValue]
    mesh: Mesh
    module: ir.Module
    partial: Mapping[str, Sequence[TacticValue]] = field(
        default_factory=dict[str, Sequence[TacticValue]]
    )

    def arguments_of(self, patterns: str | Sequence[str]) -> list[TacticValue]:
        """Return the arguments whose names match a pattern, or one of several; see `matches`.

        Raises:
            UsageError: a pattern matches no argument.
        """
        found: dict[str, TacticValue] = {}
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            matching = [each for each in self.arguments if matches(each.name, pattern)]
            if not matching:
                names = [each.name for each in self.arguments]
                hint = unmatched_pattern(pattern, names, matches)
                raise UsageError(error(f"no argument matches '{pattern}'{hint}"))
            found |= {each.name: each for each in matching}
        return list(found.values())

    def size_of(self, axis: str) -> int:
        """Return the size of an axis.

        Raises:
            UsageError: the mesh has no such axis.
        """
        sizes = {each.name: each.size for each in self.mesh.axes}
        if axis not in sizes:
            known = ", ".join(f"'{name}'" for name in sizes)
            hint = did_you_mean(axis, sizes) or f"; the mesh has the axes {known}"
            raise UsageError(error(f"the mesh has no axis '{axis}'{hint}"))
        return sizes[axis]
