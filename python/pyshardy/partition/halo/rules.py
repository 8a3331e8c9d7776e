# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules for halo exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mlir_sdy.model import DimMapping, FactorType, OpShardingRule, TensorMapping


def with_factor(
    rule: OpShardingRule,
    dims: Mapping[int, int],
    size: int,
    kind: FactorType,
) -> OpShardingRule:
    """Return a rule with a new last factor, which becomes the only factor of given dimensions.

    Example: `([i, k], [i, j])->([i, k])` with dimension 1 of tensors 0 to 2 mapped to a new factor
    is `([i, l], [i, l])->([i, l])`. Factors of these dimensions only are left unused.

    Args:
        rule: a rule.
        dims: the dimension of each tensor, by the tensor's position; results follow operands.
        size: the size of the factor.
        kind: the type of the factor.
    """
    factor = rule.num_factors
    mappings = [
        _mapped(mapping, dims[tensor], factor) if tensor in dims else mapping
        for tensor, mapping in enumerate(rule.mappings)
    ]
    count = len(rule.operand_mappings)
    new = replace(
        rule,
        factor_sizes=(*rule.factor_sizes, size),
        operand_mappings=tuple(mappings[:count]),
        result_mappings=tuple(mappings[count:]),
    )
    if kind is FactorType.PASS_THROUGH:
        return new
    field = f"{kind.value.replace('-', '_')}_factors"
    return replace(new, **{field: (*getattr(new, field), factor)})


def _mapped(mapping: TensorMapping, dim: int, factor: int) -> TensorMapping:
    dims = list(mapping.dim_mappings)
    dims[dim] = DimMapping((factor,))
    return TensorMapping(tuple(dims))
