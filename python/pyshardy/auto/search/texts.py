# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of shardings and costs."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.model import TensorSharding
from pyshardy.display import seconds_text


def spec_text(own: TensorSharding) -> str:
    """Return a sharding in the notation of `PartitionSpec`, with sub-axes as `"x":(1)4`."""
    return _spec_of([[str(axis) for axis in axes] for axes in own.dim_axes])


def spec_of_names(axes_of_dims: Sequence[Sequence[str]]) -> str:
    """Return the `PartitionSpec` of the names of the axes of each dimension."""
    return _spec_of([[f'"{name}"' for name in names] for names in axes_of_dims])


def _spec_of(axes_of_dims: Sequence[Sequence[str]]) -> str:
    """Return the text of a `PartitionSpec` from the texts of the axes of each dimension."""
    dims = [
        "None" if not axes else axes[0] if len(axes) == 1 else f"({', '.join(axes)})"
        for axes in axes_of_dims
    ]
    while dims and dims[-1] == "None":
        dims.pop()
    return f"P({', '.join(dims)})"


def cost_text(cost: float, objective: str) -> str:
    """Return a cost: a time, or bytes."""
    return seconds_text(cost) if objective == "time" else f"{cost:,.0f} bytes"


def signed_text(difference: float, objective: str) -> str:
    """Return a difference of costs with its sign."""
    sign = "-" if difference < 0 else "+"
    return f"{sign}{cost_text(abs(difference), objective)}"


def bytes_text(nbytes: float) -> str:
    """Return a number of bytes with three digits and a decimal unit: `1.25 GB`."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= size:
            return f"{nbytes / size:.3g} {unit}"
    return f"{nbytes:.0f} B"
