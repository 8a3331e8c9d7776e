# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules written as text: `b m k, b k n -> b m n`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mlir_sdy.model import DimMapping, OpShardingRule, TensorMapping
from pyshardy.rules.signature import OperationSignature

_DIM = re.compile(r"\(([^()]*)\)|([A-Za-z_]\w*)|(\S)")


class RuleError(ValueError):
    """A rule is ill-formed, or does not fit the operation it was given for."""


@dataclass(frozen=True, slots=True)
class RuleNotation:
    """A rule whose factor sizes are still to be read off the types of an operation; see `rule`."""

    text: str
    operands: tuple[tuple[tuple[str, ...], ...], ...]
    results: tuple[tuple[tuple[str, ...], ...], ...]
    sizes: tuple[tuple[str, int], ...]
    reduction: tuple[str, ...]
    need_replication: tuple[str, ...]
    permutation: tuple[str, ...]
    blocked: tuple[str, ...]

    def resolve(self, op: OperationSignature) -> OpShardingRule:
        """The rule for the shapes of `op`.

        Raises:
            RuleError: the rule does not fit the operation.
        """
        sizes = self._sizes(op)
        order = {name: index for index, name in enumerate(self._names())}
        mappings = [
            TensorMapping(tuple(DimMapping(tuple(order[name] for name in dim)) for dim in dims))
            for dims in self.operands + self.results
        ]
        return OpShardingRule(
            tuple(sizes[name] for name in order),
            tuple(mappings[: len(self.operands)]),
            tuple(mappings[len(self.operands) :]),
            reduction_factors=_sorted(self.reduction, order),
            need_replication_factors=_sorted(self.need_replication, order),
            permutation_factors=_sorted(self.permutation, order),
            blocked_propagation_factors=_sorted(self.blocked, order),
        )

    def _names(self) -> tuple[str, ...]:
        """The factors in order: those of the results first, then those of the operands alone."""
        tensors = self.results + self.operands
        return tuple(dict.fromkeys(name for dims in tensors for dim in dims for name in dim))

    def _sizes(self, op: OperationSignature) -> dict[str, int]:
        """The size of each factor: as given, or as the shapes have it."""
        tensors = self.operands + self.results
        if (len(self.operands), len(self.results)) != (len(op.operands), len(op.results)):
            raise self._misfit(
                op, f"the operation has {len(op.operands)} operands and {len(op.results)} results"
            )
        dims: list[tuple[tuple[str, ...], int]] = []
        for at, (names, tensor) in enumerate(zip(tensors, op.tensors, strict=True)):
            shape = () if tensor is None else tensor.shape
            if len(names) != len(shape):
                raise self._misfit(op, f"{self._describe(at)} has {len(shape)} dimensions")
            dims.extend(zip(names, shape, strict=True))
        sizes = dict(self.sizes)
        # A dimension with a single unknown factor says its size, which may settle another one.
        unsettled = dims
        while True:
            settled = len(sizes)
            for names, size in unsettled:
                unknown = [name for name in names if name not in sizes]
                if len(unknown) == 1:
                    known = math.prod(sizes[name] for name in names if name in sizes)
                    if known == 0 or size % known:
                        raise self._misfit(op, f"{known} does not divide {size}")
                    sizes[unknown[0]] = size // known
            if len(sizes) == settled:
                break
        for names, size in dims:
            missing = [name for name in names if name not in sizes]
            if missing:
                raise self._misfit(op, f"the size of '{missing[0]}' must be given by `sizes`")
            if math.prod(sizes[name] for name in names) != size:
                raise self._misfit(op, f"'{' '.join(names)}' does not have size {size} everywhere")
        return sizes

    def _describe(self, tensor: int) -> str:
        if tensor < len(self.operands):
            return f"operand {tensor}"
        return f"result {tensor - len(self.operands)}"

    def _misfit(self, op: OperationSignature, why: str) -> RuleError:
        return RuleError(f"the rule '{self.text}' does not fit '{op.name}': {why}")


def _sorted(names: Iterable[str], order: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sorted(order[name] for name in names))


def rule(
    text: str,
    *,
    sizes: dict[str, int] | None = None,
    reduction: str = "",
    need_replication: str = "",
    permutation: str = "",
    blocked: str = "",
) -> RuleNotation:
    """Write down the rule of an operation by naming its dimensions.

    Each tensor is a list of dimensions, separated by blanks; each dimension is a factor, or
    several of them, major to minor, in parentheses; `()` is a scalar. Sizes come from the
    operation's types.

        rule("b m k, b k n -> b m n", reduction="k")
        rule("b s (h d) -> b s h d")
        rule("i j, () -> i j")

    Args:
        text: the operands, an arrow, the results.
        sizes: sizes of factors that the types don't determine.
        reduction: factors along which partial results must be reduced.
        need_replication: factors that must be made replicated.
        permutation: factors whose shards must be exchanged.
        blocked: factors along which nothing may propagate.

    Raises:
        RuleError: the text can't be read.
    """
    left, arrow, right = text.partition("->")
    if not arrow:
        raise RuleError(f"the rule '{text}' has no '->'")
    notation = RuleNotation(
        text,
        _tensors(left, text),
        _tensors(right, text),
        tuple((sizes or {}).items()),
        *(tuple(names.split()) for names in (reduction, need_replication, permutation, blocked)),
    )
    known = set(notation._names())
    kinds = (*notation.reduction, *notation.need_replication, *notation.permutation)
    for name in (*kinds, *notation.blocked):
        if name not in known:
            raise RuleError(f"the rule '{text}' has no factor '{name}'")
    if len(set(kinds)) != len(kinds):
        raise RuleError(f"a factor of the rule '{text}' has two kinds")
    for name in notation.reduction:
        if any(name in dim for dims in notation.results for dim in dims):
            raise RuleError(f"the reduction factor '{name}' of the rule '{text}' is in a result")
    return notation


def _tensors(text: str, whole: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(_dims(tensor, whole) for tensor in text.split(",")) if text.strip() else ()


def _dims(text: str, whole: str) -> tuple[tuple[str, ...], ...]:
    if text.strip() == "()":
        return ()
    dims: list[tuple[str, ...]] = []
    for match in _DIM.finditer(text):
        group, single, stray = match.groups()
        if stray is not None:
            raise RuleError(f"unexpected '{stray}' in the rule '{whole}'")
        dims.append(tuple(group.split()) if group is not None else (single,))
    names = [name for dim in dims for name in dim]
    if not dims or not all(dims):
        raise RuleError(f"a tensor or dimension of the rule '{whole}' is empty; a scalar is '()'")
    if len(set(names)) != len(names):
        raise RuleError(f"a factor occurs twice in '{text.strip()}' of the rule '{whole}'")
    return tuple(dims)
