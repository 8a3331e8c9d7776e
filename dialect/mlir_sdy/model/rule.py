# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules: the correspondence between dimensions of an operation's operands and results.

A *factor* is a logical loop dimension that operands and results share. A dimension mapped to
several factors is their product, major to minor. Factors are named `i` to `z`, then `z_1`, ...
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlir_sdy.model.enums import FactorType
from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.hashing import HashSlot, hash_once
from mlir_sdy.model.text import TextRepr, bracketed, comma_separated

_FIRST_LETTER = ord("i")
_LAST_LETTER_FACTOR = ord("z") - _FIRST_LETTER
_FACTOR = re.compile(r"z_([1-9][0-9]*)|([i-z])", re.ASCII)
_FACTORS = re.compile(rf"(?:{_FACTOR.pattern})*\Z", re.ASCII)


def factor_name(index: int) -> str:
    """The name of a factor: `i` for 0, ..., `z` for 17, `z_1` for 18, ..."""
    if index <= _LAST_LETTER_FACTOR:
        return chr(_FIRST_LETTER + index)
    return f"z_{index - _LAST_LETTER_FACTOR}"


def factor_indices(names: str) -> tuple[int, ...]:
    """Return the indices of factors with adjacent names: `ij` is 0 and 1, `zz_1` 17 and 18.

    Raises:
        ModelError: If the text contains anything except names of factors.
    """
    if not _FACTORS.match(names):
        raise ModelError(f"expected factors ('i' to 'z', then 'z_1', 'z_2', ...), found {names!r}")
    return tuple(
        _LAST_LETTER_FACTOR + int(number) if number else ord(letter) - _FIRST_LETTER
        for number, letter in _FACTOR.findall(names)
    )


@dataclass(frozen=True, slots=True, repr=False)
class DimMapping(TextRepr):
    """The factors of a dimension, major to minor: `ij`."""

    factor_indices: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "".join(map(factor_name, self.factor_indices))

    def is_minor_most(self, factor: int) -> bool:
        """Whether `factor` is the last one of the dimension."""
        return bool(self.factor_indices) and self.factor_indices[-1] == factor


@dataclass(frozen=True, slots=True, repr=False)
class TensorMapping(TextRepr):
    """The factors of each dimension of a tensor: `[i, jk]`."""

    dim_mappings: tuple[DimMapping, ...] = ()

    def __str__(self) -> str:
        return bracketed(self.dim_mappings)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dim_mappings)

    def contains_factor(self, factor: int) -> bool:
        """Whether some dimension is mapped to `factor`."""
        return any(factor in dim.factor_indices for dim in self.dim_mappings)


@hash_once
@dataclass(frozen=True, slots=True, repr=False)
class OpShardingRule(HashSlot):
    """The rule of an op: `<([i, j], [j, k])->([i, k]) {i=2, j=3, k=5} reduction={j}>`.

    Attributes:
        factor_sizes: the size of each factor.
        operand_mappings: the factors of each operand.
        result_mappings: the factors of each result.
        reduction_factors: factors along which partial results must be reduced.
        need_replication_factors: factors along which all tensors must be replicated.
        permutation_factors: factors along which shards exchange elements.
        blocked_propagation_factors: factors along which shardings must not propagate.
        is_custom_rule: whether a user gave the rule, so that no pass removes it.
    """

    factor_sizes: tuple[int, ...]
    operand_mappings: tuple[TensorMapping, ...]
    result_mappings: tuple[TensorMapping, ...]
    reduction_factors: tuple[int, ...] = ()
    need_replication_factors: tuple[int, ...] = ()
    permutation_factors: tuple[int, ...] = ()
    blocked_propagation_factors: tuple[int, ...] = ()
    is_custom_rule: bool = False

    @property
    def num_factors(self) -> int:
        """The number of factors."""
        return len(self.factor_sizes)

    @property
    def mappings(self) -> tuple[TensorMapping, ...]:
        """The mappings of all tensors, operands first and then results."""
        return self.operand_mappings + self.result_mappings

    @property
    def non_scalar_tensor_indices(self) -> tuple[int, ...]:
        """The positions in `mappings` of the tensors with dimensions."""
        return tuple(index for index, mapping in enumerate(self.mappings) if mapping.rank > 0)

    @property
    def has_dims_with_several_factors(self) -> bool:
        """Whether a dimension of any tensor is mapped to several factors."""
        return any(
            len(dim.factor_indices) > 1 for mapping in self.mappings for dim in mapping.dim_mappings
        )

    def factor_type(self, factor: int) -> FactorType:
        """Return the kind of `factor`."""
        if factor in self.reduction_factors:
            return FactorType.REDUCTION
        if factor in self.need_replication_factors:
            return FactorType.NEED_REPLICATION
        if factor in self.permutation_factors:
            return FactorType.PERMUTATION
        return FactorType.PASS_THROUGH

    def is_minor(self, factor: int) -> bool:
        """Whether a dimension of any tensor has `factor`, but does not begin with it."""
        dims = (dim for mapping in self.mappings for dim in mapping.dim_mappings)
        return any(factor in dim.factor_indices[1:] for dim in dims)

    def is_batching_factor(self, factor: int) -> bool:
        """Whether `factor` passes through and is in every tensor with dimensions."""
        return self.factor_type(factor) is FactorType.PASS_THROUGH and all(
            mapping.contains_factor(factor) for mapping in self.mappings if mapping.rank > 0
        )

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
