# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.torch.auto_shard`: automatic sharding of modules of PyTorch, as placements of DTensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyshardy.auto.entry import auto_shard as auto_shard_module
from pyshardy.auto.plans.plan import ShardingPlan
from pyshardy.auto.search.options import Objective
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware
from pyshardy.frontends.torch.parallel_plan import parallelize_plan, placements
from pyshardy.frontends.torch.tracing import trace

if TYPE_CHECKING:
    import torch
    from torch.distributed.tensor import Placement
    from torch.distributed.tensor.parallel import ParallelStyle
    from torch.export import ExportedProgram

    from mlir_sdy.model import Mesh, TensorSharding


@dataclass(frozen=True)
class TorchShardings:
    """The shardings of a module.

    Attributes:
        plan: the plan.
    """

    plan: ShardingPlan

    @cached_property
    def placements(self) -> Mapping[str, tuple[Placement, ...]]:
        """The placements of weights and inputs by their names, for each axis of the mesh.

        Raises:
            UsageError: placements can't express a sharding.
        """
        return placements(self.plan.program)

    @cached_property
    def parallelize_plan(self) -> ParallelStyle:
        """The plan for `parallelize_module`.

        Raises:
            UsageError: placements can't express a sharding.
        """
        return parallelize_plan(self.plan.program)


def auto_shard(
    module: torch.nn.Module | ExportedProgram,
    *args: Any,
    mesh: Mesh,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    memory: float | str | None = None,
    shardings: Mapping[str, TensorSharding | Sequence[str | tuple[str, ...] | None]] | None = None,
    objective: Objective = "time",
    axes: Sequence[str] | None = None,
    uneven: bool = False,
    sub_axes: bool = False,
    timeout: float = 60.0,
    gap: float = 0.01,
    kwargs: Mapping[str, Any] | None = None,
) -> TorchShardings:
    """Find placements of DTensors for a module of PyTorch.

        found = sdy.torch.auto_shard(model, tokens, mesh=mesh, memory="80GB")
        parallelize_module(model, device_mesh, found.parallelize_plan)

    DTensor decides about communication inside of the module itself. To keep all decisions of the
    plan, run its `program`.

    Args:
        module: the module, or the result of `torch.export.export`, as for `sdy.torch.trace`.
        args: its inputs.
        mesh: the mesh.
        hardware: the devices and links.
        memory: the memory of a device, in bytes or as a text: "80GB".
        shardings: the shardings that are given, by patterns of names, as for `sdy.torch.trace`.
        objective: what is minimized: the time, or the bytes that a device sends.
        axes: the names of the axes that may be used.
        uneven: whether axes may shard dimensions that they don't divide; see `sdy.auto_shard`.
        sub_axes: whether a part of an axis may shard a dimension that the whole one doesn't divide.
        timeout: the seconds after which the search ends with the best plan so far.
        gap: the search ends when the plan is proven to be within this fraction of the optimum.
        kwargs: the keyword inputs.

    Raises:
        UsageError: as for `sdy.auto_shard` and `sdy.torch.trace`.
    """
    traced = trace(module, *args, mesh=mesh, shardings=shardings, kwargs=kwargs)
    plan = auto_shard_module(
        traced.module,
        hardware=hardware,
        mesh=mesh,
        memory=memory,
        objective=objective,
        axes=axes,
        uneven=uneven,
        sub_axes=sub_axes,
        timeout=timeout,
        gap=gap,
    )
    return TorchShardings(plan)
