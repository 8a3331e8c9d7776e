# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of the passes that propagate.

This module doesn't load the MLIR host, so that pipelines are listed quickly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StrategyName = Literal["aggressive", "basic", "basic-then-aggressive"]


@dataclass(frozen=True, kw_only=True)
class PropagationOptions:
    """The options of all passes that propagate.

    Attributes:
        keep_sharding_rules: whether to leave the sharding rules on the operations.
        module_dump_directory: the directory in which the module is saved between user priorities;
            empty to save nothing.
        module_dump_index: the number of the first file saved.
        conservative_propagation: whether to propagate full axes only, and not along the
            dimensions of windows and padding.
        debug_sharding_origins: whether to record for each axis which of the user's shardings it
            comes from, in `sdy.sharding_origins`.
        debug_propagation_edge_sharding: whether to record for each axis through which operand or
            result it came, in `sdy.propagation_edges`.
        compatible: whether to reproduce C++ Shardy exactly where it is wrong or lacks a rule.
    """

    keep_sharding_rules: bool = False
    module_dump_directory: str = ""
    module_dump_index: int = 0
    conservative_propagation: bool = False
    debug_sharding_origins: bool = False
    debug_propagation_edge_sharding: bool = False
    compatible: bool = False


@dataclass(frozen=True, kw_only=True)
class StrategyOptions(PropagationOptions):
    """The options of passes that resolve conflicts.

    Attributes:
        propagation_strategy: the strategies to run, one after the other; see `driver.STRATEGIES`.
    """

    propagation_strategy: StrategyName = "aggressive"


@dataclass(frozen=True, kw_only=True)
class PriorityOptions(StrategyOptions):
    """The options of passes with priorities.

    Attributes:
        run_op_priority_propagation: whether operations have priorities.
    """

    run_op_priority_propagation: bool = True
