# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Composite operations, which a function of the module defines."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule, TensorMapping
from mlir_sdy.symbols import enclosing_module
from pyshardy.irtools.constants import is_one_value
from pyshardy.rules.builder import identity_rule, pointwise
from pyshardy.rules.lookup import ShardingRuleLookup
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.composite", reads=("decomposition",), beyond_shardy=True)
def composite_rule(op: OperationSignature) -> OpShardingRule | None:
    """Point-wise if all operations of its decomposition are; otherwise there is no rule.

    1. All tensors of the composite, scalars aside, have one shape.
    2. Its decomposition is one block of operations, each of which is a splat constant, or has a
       rule that relates tensors of that shape dimension by dimension. Scalars may be computed as
       well.

    Example: the rule of `return tanh(multiply(%x, constant<2>))` on `tensor<4x6xf32>` is
    `([i, j])->([i, j]) {i=4, j=6}`; with a transpose or a reduction, there is none.
    """
    shapes = {tensor.shape for tensor in op.tensors if tensor is not None and tensor.rank}
    module = enclosing_module(op.operation)
    if len(shapes) != 1 or not op.results or module is None:
        return None
    symbols = ir.SymbolTable(module)
    name = op.text("decomposition").removeprefix("@")
    if name not in symbols:
        return None
    blocks = symbols[name].operation.regions[0].blocks
    if len(blocks) != 1 or not _is_pointwise(blocks[0], shapes.pop()):
        return None
    return pointwise(op)


_CONSTANTS = frozenset({"chlo.constant", "sdy.constant", "stablehlo.constant"})


def _is_pointwise(body: ir.Block, shape: tuple[int, ...]) -> bool:
    """Whether all operations of a block are point-wise on tensors of `shape`, or on scalars."""
    lookup = ShardingRuleLookup(quiet=True)
    return all(_is_pointwise_operation(view.operation, shape, lookup) for view in body.operations)


def _is_pointwise_operation(
    operation: ir.Operation, shape: tuple[int, ...], lookup: ShardingRuleLookup
) -> bool:
    if operation.name in _CONSTANTS:
        return is_one_value(operation)
    if operation.name == "func.return":
        return True
    # Nested composites are not expanded, since they may be recursive.
    rule = None if operation.name == "stablehlo.composite" else lookup.rule(operation)
    if rule is None:
        return False
    tied, scalar = identity_rule(shape).mappings[0], TensorMapping()
    expected = OpShardingRule(
        shape if tied in rule.mappings else (),
        tuple(tied if mapping.rank else scalar for mapping in rule.operand_mappings),
        tuple(tied if mapping.rank else scalar for mapping in rule.result_mappings),
    )
    return rule == expected
