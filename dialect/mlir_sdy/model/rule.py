# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules: how the dimensions of an op's operands and results correspond.

A *factor* is a logical loop dimension that operands and results share. A dimension mapped to
several factors is their product, major to minor. Factors are named `i` to `z`, then `z_1`, ...
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.model.hashing import HashedOnce
from mlir_sdy.model.text import bracketed, comma_separated

_FIRST_LETTER = ord("i")
_LAST_LETTER_FACTOR = ord("z") - _FIRST_LETTER


def factor_name(index: int) -> str:
    """The name of a factor: `i` for 0, ..., `z` for 17, `z_1` for 18, ..."""
    if index <= _LAST_LETTER_FACTOR:
        return chr(_FIRST_LETTER + index)
    return f"z_{index - _LAST_LETTER_FACTOR}"


@dataclass(frozen=True, slots=True)
class DimMapping:
    """The factors of a dimension, major to minor: `ij`."""

    factor_indices: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "".join(map(factor_name, self.factor_indices))


@dataclass(frozen=True, slots=True)
class TensorMapping:
    """The factors of each dimension of a tensor: `[i, jk]`."""

    dim_mappings: tuple[DimMapping, ...] = ()

    def __str__(self) -> str:
        return bracketed(self.dim_mappings)


@dataclass(frozen=True, slots=True)
class OpShardingRule(HashedOnce):
    """The rule of an op: `<([i, j], [j, k])->([i, k]) {i=2, j=3, k=5} reduction={j}>`.

    Attributes:
        factor_sizes: the size of each factor.
        operand_mappings: the factors of each operand.
        result_mappings: the factors of each result.
        reduction_factors: factors along which partial results must be reduced.
        need_replication_factors: factors that must be made replicated.
        permutation_factors: factors whose shards must be exchanged.
        blocked_propagation_factors: factors along which shardings must not propagate.
        is_custom_rule: whether a user gave the rule, so that no pass removes it.
    """

    __hash__ = HashedOnce.__hash__

    factor_sizes: tuple[int, ...]
    operand_mappings: tuple[TensorMapping, ...]
    result_mappings: tuple[TensorMapping, ...]
    reduction_factors: tuple[int, ...] = ()
    need_replication_factors: tuple[int, ...] = ()
    permutation_factors: tuple[int, ...] = ()
    blocked_propagation_factors: tuple[int, ...] = ()
    is_custom_rule: bool = False

    def __str__(self) -> str:
        operands = comma_separated(self.operand_mappings)
        results = comma_separated(self.result_mappings)
        clauses = [f"({operands})->({results})"]
        if self.factor_sizes:
            sizes = (f"{factor_name(i)}={size}" for i, size in enumerate(self.factor_sizes))
            clauses.append(f"{{{', '.join(sizes)}}}")
        for keyword, factors in (
            ("reduction", self.reduction_factors),
            ("need_replication", self.need_replication_factors),
            ("permutation", self.permutation_factors),
            ("blocked_propagation", self.blocked_propagation_factors),
        ):
            if factors:
                clauses.append(f"{keyword}={{{', '.join(map(factor_name, factors))}}}")
        custom = ", custom" if self.is_custom_rule else ""
        return f"<{' '.join(clauses)}{custom}>"
