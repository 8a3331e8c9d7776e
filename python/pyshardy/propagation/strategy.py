# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interface of the strategies, which compute one step of propagation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir_sdy.model import Mesh, PropagationDirection
from pyshardy.propagation.projection import ShardingProjection


@dataclass(frozen=True, slots=True)
class StepInputs:
    """The inputs of a step besides the shardings.

    Attributes:
        directions: the direction in which axes may flow, for each factor.
        factor_sizes: the size of each factor.
        mesh: the mesh of all shardings.
        conservative: whether only full axes are propagated.
        is_elementwise: whether the operation computes element by element.
    """

    directions: Sequence[PropagationDirection]
    factor_sizes: Sequence[int]
    mesh: Mesh
    conservative: bool = False
    is_elementwise: bool = False


Strategy = Callable[[ShardingProjection, StepInputs], set[int]]
"""Expands the factors of a projection (an operation's shardings by factors) in place.

Returns the positions of the tensors that it expanded.
"""
