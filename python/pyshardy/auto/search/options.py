# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of automatic sharding, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.auto.strategies.costs import CostModel, HardwareCosts, SentBytes
from pyshardy.contracts.contract import bytes_of_text
from pyshardy.cost.hardware import Hardware

Objective: TypeAlias = Literal["time", "bytes"]


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The options of a search.

    Attributes:
        memory: the bytes of a device; None for any number.
        axes: the axes that may be used; by default, all of the mesh.
        fixed: whether shardings in the program are kept.
        uneven: whether axes may shard dimensions that they don't divide.
        sub_axes: whether a part of an axis may shard a dimension that the whole one doesn't divide.
        gap: the search ends when the gap is proven to be at most this fraction.
        timeout: the search ends after these seconds.
        solver: the name of the solver.
    """

    memory: float | None = None
    axes: tuple[str, ...] | None = None
    fixed: bool = True
    uneven: bool = False
    sub_axes: bool = False
    gap: float = 0.01
    timeout: float = 60.0
    solver: str = "combined"

    @classmethod
    def of(
        cls,
        *,
        memory: float | str | None,
        axes: Sequence[str] | None,
        fixed: bool,
        uneven: bool = False,
        sub_axes: bool = False,
        gap: float,
        timeout: float,
        solver: str,
    ) -> SearchOptions:
        """Check and convert options that a user gave.

        Raises:
            UsageError: an option is out of its range.
        """
        if timeout <= 0:
            raise UsageError(error(f"the time limit must be positive, got: {timeout}"))
        if gap < 0:
            raise UsageError(error(f"the gap must be a fraction of at least 0, got: {gap}"))
        limit = float(bytes_of_text(memory)) if isinstance(memory, str) else memory
        if limit is not None and limit <= 0:
            raise UsageError(error(f"the memory must be positive, got: {memory}"))
        return cls(
            memory=limit,
            axes=None if axes is None else tuple(axes),
            fixed=fixed,
            uneven=uneven,
            sub_axes=sub_axes,
            gap=gap,
            timeout=timeout,
            solver=solver,
        )


def cost_model(objective: str, hardware: Hardware) -> CostModel:
    """Return the costs of an objective.

    Raises:
        UsageError: there is no such objective.
    """
    if objective not in ("time", "bytes"):
        raise UsageError(error(f"expected the objective 'time' or 'bytes', got: {objective!r}"))
    return HardwareCosts(hardware) if objective == "time" else SentBytes()
