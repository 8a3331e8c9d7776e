# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules written as text: `b m k, b k n -> b m n`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from mlir_sdy.diagnostics import wrong_type
from mlir_sdy.model import DimMapping, OpShardingRule, TensorMapping
from pyshardy.rules.signature import OperationSignature, RuleError, TensorType

_DIM = re.compile(r"\(([^()]*)\)|([A-Za-z_]\w*|\.\.\.)|(\S)")
_ELLIPSIS = "..."
_Dims = tuple[tuple[str, ...], ...]
"""The factors of each dimension of a tensor, by name."""


@dataclass(frozen=True, slots=True)
class RuleNotation:
    """A rule without factor sizes, which follow from the types of an operation; see `rule`."""

    text: str
    operands: tuple[_Dims, ...]
    results: tuple[_Dims, ...]
    sizes: tuple[tuple[str, int], ...]
    reduction: tuple[str, ...]
    need_replication: tuple[str, ...]
    permutation: tuple[str, ...]
    blocked: tuple[str, ...]

    def resolve(self, op: OperationSignature) -> OpShardingRule:
        """Return the rule for the shapes of `op`.

        Raises:
            RuleError: the rule does not fit the operation.
        """
        if (len(self.operands), len(self.results)) != (len(op.operands), len(op.results)):
            raise self._misfit(
                op, f"the operation has {len(op.operands)} operands and {len(op.results)} results"
            )
        if any((_ELLIPSIS,) in dims for dims in self.operands + self.results):
            return self._expanded(op).resolve(op)
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

    def contracted_factor(self) -> str | None:
        """Return the first factor of several operands and no result that has no kind; else None."""
        kinds = (*self.reduction, *self.need_replication, *self.permutation, *self.blocked)
        named = [{name for dim in dims for name in dim} for dims in self.operands]
        left = [
            name
            for name in self._names()
            if name not in kinds and not any(name in dim for dims in self.results for dim in dims)
        ]
        return next((name for name in left if sum(map({name}.issubset, named)) > 1), None)

    def _names(self) -> tuple[str, ...]:
        """Return the factors in order: those of the results first, then those of operands only."""
        tensors = self.results + self.operands
        return tuple(dict.fromkeys(name for dims in tensors for dim in dims for name in dim))

    def _expanded(self, op: OperationSignature) -> RuleNotation:
        """Return the rule with `...` replaced by a factor for each remaining dimension."""
        numbers = {
            at: _rank(tensor) - len(dims) + 1
            for at, (dims, tensor) in enumerate(
                zip(self.operands + self.results, op.tensors, strict=True)
            )
            if (_ELLIPSIS,) in dims
        }
        for at, number in numbers.items():
            if number < 0:
                raise self._misfit(
                    op, f"{self._describe(at)} has {_rank(op.tensors[at])} dimensions"
                )
        if len(set(numbers.values())) > 1:
            listed = ", ".join(f"{n} of {self._describe(at)}" for at, n in numbers.items())
            raise self._misfit(op, f"'...' stands for {listed}")
        names = tuple(f"{_ELLIPSIS}{at}" for at in range(next(iter(numbers.values()))))

        def spelled_out(dims: _Dims) -> _Dims:
            parts = ([(n,) for n in names] if dim == (_ELLIPSIS,) else [dim] for dim in dims)
            return tuple(dim for part in parts for dim in part)

        def with_names(factors: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(n for f in factors for n in (names if f == _ELLIPSIS else (f,)))

        return replace(
            self,
            operands=tuple(map(spelled_out, self.operands)),
            results=tuple(map(spelled_out, self.results)),
            reduction=with_names(self.reduction),
            need_replication=with_names(self.need_replication),
            permutation=with_names(self.permutation),
            blocked=with_names(self.blocked),
        )

    def _sizes(self, op: OperationSignature) -> dict[str, int]:
        """Return the size of each factor: as given, or from the shapes."""
        dims: list[tuple[int, tuple[str, ...], int]] = []
        for at, (names, tensor) in enumerate(
            zip(self.operands + self.results, op.tensors, strict=True)
        ):
            if len(names) != _rank(tensor):
                raise self._misfit(op, f"{self._describe(at)} has {_rank(tensor)} dimensions")
            if tensor is not None:
                pairs = zip(names, tensor.shape, strict=True)
                dims.extend((at, *dim) for dim in pairs if dim[1] >= 0)  # others are unknown
        sizes = dict(self.sizes)
        # A dimension with a single unknown factor determines its size, which may determine another.
        while True:
            settled = len(sizes)
            for at, names, size in dims:
                unknown = [name for name in names if name not in sizes]
                if len(unknown) == 1:
                    known = math.prod(sizes[name] for name in names if name in sizes)
                    if known == 0 or size % known:
                        where = f"the size {size} of '{' '.join(names)}' in {self._describe(at)}"
                        raise self._misfit(op, f"{known} does not divide {where}")
                    sizes[unknown[0]] = size // known
            if len(sizes) == settled:
                break
        for at, names, size in dims:
            missing = [name for name in names if name not in sizes]
            if missing:
                raise self._misfit(op, f"the size of '{missing[0]}' must be given by `sizes`")
            expected = math.prod(sizes[name] for name in names)
            if expected != size:
                what = f"'{' '.join(names)}' has size {expected}"
                raise self._misfit(op, f"{what}, but {size} in {self._describe(at)}")
        return sizes

    def _describe(self, tensor: int) -> str:
        if tensor < len(self.operands):
            return f"operand {tensor}"
        return f"result {tensor - len(self.operands)}"

    def _misfit(self, op: OperationSignature, why: str) -> RuleError:
        return RuleError(f"the rule '{self.text}' does not fit '{op.name}': {why}")


def _rank(tensor: TensorType | None) -> int:
    return 0 if tensor is None else tensor.rank


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
    """Define the rule of an operation by naming its dimensions.

    Each tensor is a list of dimensions, separated by blanks; each dimension is a factor, or
    several of them, major to minor, in parentheses; `()` is a scalar; `...` stands for any number
    of dimensions, the same in all tensors that have it. Sizes come from the operation's types.

        rule("b m k, b k n -> b m n", reduction="k")
        rule("b s (h d) -> b s h d")
        rule("i j, () -> i j")
        rule("... m n -> ... n", reduction="m")

    Args:
        text: the operands, an arrow, the results.
        sizes: sizes of factors that the types don't determine.
        reduction: factors along which partial results must be reduced.
        need_replication: factors along which all tensors must be replicated.
        permutation: factors whose shards must be exchanged.
        blocked: factors along which nothing may propagate.

    Raises:
        RuleError: the text can't be read.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("rule", "a text such as 'b m k, b k n -> b m n'", text)
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


def _tensors(text: str, whole: str) -> tuple[_Dims, ...]:
    return tuple(_dims(tensor, whole) for tensor in text.split(",")) if text.strip() else ()


def _dims(text: str, whole: str) -> _Dims:
    if text.strip() == "()":
        return ()
    dims: list[tuple[str, ...]] = []
    for match in _DIM.finditer(text):
        group, single, stray = match.groups()
        if stray is not None:
            raise RuleError(f"unexpected '{stray}' in the rule '{whole}'")
        dims.append(tuple(group.split()) if group is not None else (single,))
    names = [name for dim in dims for name in dim]
    if any(_ELLIPSIS in dim and len(dim) > 1 for dim in dims):
        raise RuleError(f"'...' stands for dimensions, not for factors, in '{whole}'")
    if not dims or not all(dims):
        raise RuleError(f"a tensor or dimension of the rule '{whole}' is empty; a scalar is '()'")
    if len(set(names)) != len(names):
        raise RuleError(f"a factor occurs twice in '{text.strip()}' of the rule '{whole}'")
    return tuple(dims)
