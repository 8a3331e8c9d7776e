# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ties the shardings of several tensors together, and one step of propagation through it.

A *relation* is a rule and the tensors that it relates: the operands and results of an operation, a
returned value and the result of its function, the sources and the target of a data-flow edge.
Programs repeat themselves, so what a step does depends on the relation's kind (rule and directions)
and on the shardings of its tensors only, and is computed once for each combination of those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mlir_sdy.model import (
    Mesh,
    OpShardingRule,
    PropagationDirection,
    TensorSharding,
    common_mesh,
)
from pyshardy.propagation.projection import ShardingProjection

Strategy = Callable[..., set[int]]
"""Expands a projection in place and says which tensors it expanded; see `propagate_basic`."""

Updates = tuple[tuple[int, int], ...]
"""What a step changes: positions of tensors in the relation, and their new shardings' numbers."""


class ShardingTable:
    """Numbers for shardings, so that states are compared and looked up as tuples of integers.

    0 stands for having no sharding.
    """

    def __init__(self) -> None:
        self._shardings: list[TensorSharding | None] = [None]
        self._numbers: dict[TensorSharding | None, int] = {None: 0}

    def number(self, sharding: TensorSharding | None) -> int:
        """The number of a sharding."""
        number = self._numbers.get(sharding)
        if number is None:
            number = self._numbers[sharding] = len(self._shardings)
            self._shardings.append(sharding)
        return number

    def __getitem__(self, number: int) -> TensorSharding | None:
        return self._shardings[number]


@dataclass(eq=False, slots=True)
class RelationKind:
    """All that relations of equal behaviour share.

    Attributes:
        rule: how the tensors' dimensions correspond.
        directions: the ways in which axes may flow along each factor.
        conservative: whether only full axes are propagated.
        outcomes: what steps from the shardings seen so far change.
    """

    rule: OpShardingRule
    directions: tuple[PropagationDirection, ...]
    conservative: bool
    outcomes: dict[tuple[int, ...], Updates] = field(default_factory=dict[tuple[int, ...], Updates])


@dataclass(eq=False, slots=True)
class Relation:
    """Tensors that are tied together.

    Attributes:
        kind: what it has in common with others.
        tensors: the slots of the tensors: operands first, then results.
        is_of_rule: whether it comes from the rule of an operation, not from an edge.
    """

    kind: RelationKind
    tensors: tuple[int, ...]
    is_of_rule: bool = False


class RelationKinds:
    """The kinds of relations that occur, one object each."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[OpShardingRule, PropagationDirection, bool], RelationKind] = {}

    def kind(
        self,
        rule: OpShardingRule,
        direction: PropagationDirection = PropagationDirection.BOTH,
        *,
        conservative: bool = False,
    ) -> RelationKind:
        """The kind with the same direction for all factors but those that the rule blocks."""
        key = rule, direction, conservative
        kind = self._kinds.get(key)
        if kind is None:
            blocked = rule.blocked_propagation_factors
            directions = tuple(
                PropagationDirection.NONE if factor in blocked else direction
                for factor in range(rule.num_factors)
            )
            kind = self._kinds[key] = RelationKind(rule, directions, conservative)
        return kind


class Stepper:
    """Takes steps: from the shardings of a relation's tensors to what changes."""

    def __init__(self, table: ShardingTable, meshes: Mapping[str, Mesh], strategy: Strategy):
        self._table = table
        self._meshes = meshes
        self._strategy = strategy

    def step(self, kind: RelationKind, state: tuple[int, ...]) -> Updates:
        """What a step changes, computed and remembered with the kind.

        1. The shardings must have a mesh in common, which has axes; otherwise nothing changes.
        2. The strategy expands their projection.
        3. A tensor is updated if it was expanded and its sharding by dimensions differs from the
           one it had; a first sharding must have axes. It is written with the name of the mesh
           that the first sharding on a mesh with axes has.
        """
        updates = kind.outcomes[state] = self._step(kind, state)
        return updates

    def _step(self, kind: RelationKind, state: tuple[int, ...]) -> Updates:
        shardings = [self._table[number] for number in state]
        written = common_mesh(shardings, self._meshes)
        mesh = self._meshes.get(written) if isinstance(written, str) else written
        if written is None or mesh is None or not mesh.axes:
            return ()
        rule = kind.rule
        projection = ShardingProjection.of(rule, shardings, mesh)
        expanded = self._strategy(
            projection, kind.directions, rule.factor_sizes, mesh, conservative=kind.conservative
        )
        updates: list[tuple[int, int]] = []
        for position in sorted(expanded):
            old, new = shardings[position], projection.sharding(rule, position, written, mesh)
            if new != old and not (old is None and new.is_fully_replicated):
                updates.append((position, self._table.number(new)))
        return tuple(updates)
