# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of the passes that propagate.

This module doesn't load the MLIR host, so that pipelines are listed quickly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pyshardy.pipeline.options import Help

StrategyName = Literal["aggressive", "basic", "basic-then-aggressive"]

Compatible = Annotated[
    bool,
    Help(
        "whether to reproduce C++ Shardy where it is wrong or lacks a sharding rule",
        release="pyshardy",
    ),
]
ConservativePropagation = Annotated[
    bool,
    Help("whether to propagate full axes only, and not along dimensions of windows and padding"),
]
KeepShardingRules = Annotated[bool, Help("whether to keep the sharding rules on the operations")]
PropagationStrategy = Annotated[
    StrategyName, Help("resolution of conflicts between the factors of an operation")
]
RunOpPriorityPropagation = Annotated[
    bool, Help("whether to propagate through pass-through operations first")
]


@dataclass(frozen=True, kw_only=True)
class PropagationSettings:
    """The options of all passes that propagate.

    Attributes:
        module_dump_directory: directory to which the module is saved before each user priority
            except the first; empty to save nothing.
        module_dump_index: number of the first saved file.
        debug_sharding_origins: whether to record for each axis the user sharding that it comes
            from.
        debug_propagation_edge_sharding: whether to record for each axis the operand or result that
            it was propagated from.
    """

    keep_sharding_rules: KeepShardingRules = False
    module_dump_directory: str = ""
    module_dump_index: Annotated[int, Help(release="pyshardy", least=0)] = 0
    conservative_propagation: ConservativePropagation = False
    debug_sharding_origins: bool = False
    debug_propagation_edge_sharding: bool = False
    compatible: Compatible = False


@dataclass(frozen=True, kw_only=True)
class StrategyOptions(PropagationSettings):
    """The options of passes that resolve conflicts."""

    propagation_strategy: PropagationStrategy = "aggressive"


@dataclass(frozen=True, kw_only=True)
class PriorityOptions(StrategyOptions):
    """The options of passes with priorities."""

    run_op_priority_propagation: RunOpPriorityPropagation = True
