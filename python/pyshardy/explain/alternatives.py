# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways that the partitioner compared for an operation, and the size at which it would turn.

1. The alternatives are the assignments of axes to the factors of the operation that
   `partition/choice/cheapest_axes` compares, for the shardings that propagation left. Those with
   the same collectives are one, with the least time.
2. The choice turns where another factor is a power of two times as large, up to 1,024 times: of all
   factors the one with the least such size is told.

Loops aren't considered. Where later passes have moved, shared or merged the collectives of a way,
it isn't told: see `Comparison.in_program`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, OpShardingRule, TensorSharding
from mlir_sdy.values import get_sharding
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import element_bytes, shape_of
from pyshardy.partition.choice.cheapest_axes import AxisComparison, ComparedAxes, FactorTensor
from pyshardy.partition.choice.even_factors import even_factors, with_even_factors
from pyshardy.partition.op_facts.record import rule_on_shards
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.types.compatible_shardings import majority_mesh, shardy_axes
from pyshardy.propagation.projection import ShardingProjection
from pyshardy.rules import ShardingRuleLookup

_MOST_SCALED = 10
"""The most doublings of a size."""

_POSITION = re.compile(r"<tensor (\d+)>")

_RESULT = "the result"

_MOST_SHOWN = 3
"""The most alternatives of a text."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to compute an operation.

    Attributes:
        what: its collectives in words: `all_gather of x and all_reduce of the result`.
        kinds: the kinds of its collectives.
        nbytes_sent: the bytes that a device sends.
        seconds: the time of communication and computation.
    """

    what: str
    kinds: frozenset[str]
    nbytes_sent: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.what} ({self.nbytes_sent:,} bytes)"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The ways to compute an operation, the one with the least time first.

    Attributes:
        choices: the ways.
        turn: from which size on another way would take less time, in words; empty if from none.
    """

    choices: tuple[Choice, ...]
    turn: str = ""

    def lines(self, kind: str) -> list[str]:
        """Return what was chosen instead of what.

        Args:
            kind: the kind of the collective in question. There are no lines if the way with the
                least time doesn't have it: a later pass has changed what was chosen.
        """
        if len(self.choices) < 2 or kind not in self.choices[0].kinds:
            return []
        others = self.choices[1 : 1 + _MOST_SHOWN]
        lines = [f"chosen: {self.choices[0]}", f"instead of: {'; '.join(map(str, others))}"]
        lines += filter(None, (self.turn,))
        for each in others:
            if len(each.kinds) == 1 and each.kinds != self.choices[0].kinds:
                other = min(each.kinds)
                return [*lines, f"to get the {each.what}: sdy.partition(..., prefer='{other}')"]
        return lines

    def in_program(self, kinds: Set[str], *, is_result_moved: bool) -> Comparison:
        """Return what holds after the passes that move, share and merge collectives.

        Args:
            kinds: the kinds of the collectives of the operation's operands and results. Without
                those of the first way, a later pass has changed what was chosen: nothing is left.
            is_result_moved: whether later operations require another sharding of a result. What
                the result takes in another way may merge with that, so it is no turn then.
        """
        if self.choices and not self.choices[0].kinds <= kinds:
            return Comparison(())
        is_merged = is_result_moved and _RESULT in self.turn
        return replace(self, turn="") if is_merged else self

    def named(self, names: Sequence[str]) -> Comparison:
        """Return the comparison with names in place of `_name(position)`."""

        def said(text: str) -> str:
            return _POSITION.sub(lambda found: names[int(found[1])], text)

        choices = tuple(replace(each, what=said(each.what)) for each in self.choices)
        return Comparison(choices, said(self.turn))


def compare(
    operation: ir.Operation,
    meshes: Mapping[str, Mesh],
    hardware: Hardware,
    names: Sequence[str],
) -> Comparison:
    """Return the ways to compute an operation of a propagated module.

    Args:
        operation: the operation.
        meshes: the meshes of the module by name.
        hardware: the hardware that the program is partitioned for.
        names: the names of its operands, then results.
    """
    values = (*operation.operands, *operation.results)
    shardings = tuple(map(get_sharding, values))
    rule = ShardingRuleLookup.shared(operation.context).rule(operation)
    written = majority_mesh(shardings, meshes)
    mesh = meshes.get(written) if isinstance(written, str) else written
    if rule is None or mesh is None or not mesh.axes:
        return Comparison(())
    rule = rule_on_shards(operation, rule)
    tensors = [_tensor(value, each) for value, each in zip(values, shardings, strict=True)]
    if any(not size for tensor in tensors for size in tensor.shape):
        return Comparison(())
    question = _Operation(
        rule,
        tuple(tensors),
        shardings,
        blocked_factors(operation, rule),
        even_factors(operation, rule, None),
        mesh,
        hardware,
    )
    return _compared(question).named(names)


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation with all that its choice depends on."""

    rule: OpShardingRule
    tensors: tuple[FactorTensor, ...]
    shardings: tuple[TensorSharding | None, ...]
    blocked: frozenset[int]
    even: frozenset[int]
    mesh: Mesh
    hardware: Hardware

    def compared(self) -> list[ComparedAxes]:
        """Return the alternatives, the one with the least time first."""
        rule, mesh = self.rule, self.mesh
        projection = ShardingProjection.of(rule, self.shardings, mesh, closed_if_missing=True)
        shapes = tuple(tensor.shape for tensor in self.tensors)
        answer = shardy_axes(rule, projection, shapes, self.blocked, mesh, is_reshape=False)
        answer = with_even_factors(answer, self.even, rule, mesh)
        replicated = frozenset(
            axis.name for each in self.shardings if each for axis in each.replicated_axes
        )
        return AxisComparison(
            rule,
            projection,
            self.tensors,
            self.blocked,
            answer,
            mesh,
            self.hardware,
            self.even,
            replicated,
        ).alternatives()

    def choices(self) -> tuple[Choice, ...]:
        """Return the ways with different collectives, the one with the least time first."""
        choices: dict[str, Choice] = {}
        for each in self.compared():
            what = _words(each, len(self.rule.operand_mappings))
            kinds = frozenset(planned.kind for _, planned in each.collectives)
            choices.setdefault(what, Choice(what, kinds, each.nbytes_sent, each.seconds))
        return tuple(choices.values())

    def turn(self, choices: Sequence[Choice]) -> str:
        """Return from which size on another way takes less time; empty if from none."""
        best: tuple[int, str] | None = None
        for factor, size in enumerate(self.rule.factor_sizes):
            if size == 1 or self.rule.has_dims_with_several_factors:
                continue
            for doublings in range(1, _MOST_SCALED + 1):
                scaled = self._scaled(factor, 2**doublings)
                first = scaled.choices()[0]
                if first.what != choices[0].what:
                    if best is None or doublings < best[0]:
                        place = self._place(factor)
                        size_then = scaled.rule.factor_sizes[factor]
                        best = doublings, f"from {size_then:,} in {place} on: {first.what}"
                    break
        return "" if best is None else best[1]

    def _scaled(self, factor: int, times: int) -> _Operation:
        """Return the operation with a factor some times as large."""
        sizes = tuple(
            size * times if at == factor else size for at, size in enumerate(self.rule.factor_sizes)
        )
        tensors = tuple(
            replace(
                tensor,
                shape=tuple(
                    size * times if factor in dim.factor_indices else size
                    for size, dim in zip(tensor.shape, mapping.dim_mappings, strict=True)
                ),
            )
            for tensor, mapping in zip(self.tensors, self.rule.mappings, strict=True)
        )
        return replace(self, rule=replace(self.rule, factor_sizes=sizes), tensors=tensors)

    def _place(self, factor: int) -> str:
        """Return a dimension that has a factor: `dimension 1 of w`."""
        return next(
            f"dimension {dim} of {_name(position)}"
            for position, mapping in enumerate(self.rule.mappings)
            for dim, factors in enumerate(mapping.dim_mappings)
            if factor in factors.factor_indices
        )


def _tensor(value: ir.Value, sharding: TensorSharding | None) -> FactorTensor:
    shape = shape_of(value.type)
    axes = ((),) * len(shape) if sharding is None else tuple(sharding.dim_axes)
    return FactorTensor(shape, element_bytes(value.type), axes)


@functools.lru_cache(maxsize=1024)
def _compared(question: _Operation) -> Comparison:
    """Return the comparison of operations of one form, with positions for names."""
    choices = question.choices()
    return Comparison(choices, question.turn(choices) if len(choices) > 1 else "")


def _name(position: int) -> str:
    return f"<tensor {position}>"


def _words(alternative: ComparedAxes, num_operands: int) -> str:
    """Return the collectives of an alternative in words."""
    of_kinds: dict[str, dict[str, None]] = {}
    for position, planned in alternative.collectives:
        name = _name(position) if position < num_operands else _RESULT
        of_kinds.setdefault(planned.kind, {})[name] = None
    parts = (f"{kind} of {' and '.join(of)}" for kind, of in of_kinds.items())
    return ", ".join(parts) or "no collective"
