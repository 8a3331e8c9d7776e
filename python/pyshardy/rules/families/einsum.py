# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of tensors that the program writes in Einstein notation: `ab,bc->ac`."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, REDUCTION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule(
    "stablehlo.einsum", "stablehlo.unary_einsum", reads=("einsum_config",), beyond_shardy=True
)
def einsum_rule(op: OperationSignature) -> OpShardingRule | None:
    """A letter is a factor; letters that the result lacks are summed.

    1. A letter in several tensors, once in each, relates its dimensions.
    2. A letter that is twice in one operand takes the diagonal: all dimensions with this letter
       need replication.
    3. `...` stands for leading dimensions, counted from the last one; where an operand has
       size 1 and the result has not, the operand's dimension needs replication.

    There is no rule if the text does not fit the shapes.

    Example:
        stablehlo.einsum %a, %b, config = "abc,cd->abd"
            : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
        // ([i, j, l], [l, k])->([i, j, k]) {i=2, j=3, k=5, l=4} reduction={l}
        stablehlo.unary_einsum %a, config = "aab->ab" : (tensor<3x3x5xf32>) -> tensor<3x5xf32>
        // ([j, k, i])->([l, i]) {i=5, j=3, k=3, l=3} need_replication={j, k, l}
    """
    left, arrow, right = op.text("einsum_config").replace(" ", "").partition("->")
    labels = [*left.split(","), right]
    if not arrow or len(labels) != len(op.tensors):
        return None
    shapes = [*map(op.operand_shape, range(len(op.operands))), op.result_shape()]
    places = [_labels(label, len(shape)) for label, shape in zip(labels, shapes, strict=True)]
    if any(len(names) != len(shape) for names, shape in zip(places, shapes, strict=True)):
        return None
    return _rule_of_labels(op, places, shapes)


def _labels(text: str, rank: int) -> list[str]:
    """Return a label for each dimension; an ellipsis has numbers, from its end."""
    before, dots, after = text.partition("...")
    number = rank - len(before) - len(after) if dots else 0
    return [*before, *(str(at) for at in reversed(range(number))), *after]


def _rule_of_labels(
    op: OperationSignature, places: list[list[str]], shapes: list[tuple[int, ...]]
) -> OpShardingRule:
    sizes: dict[str, int] = {}
    for names, shape in zip(reversed(places), reversed(shapes), strict=True):
        for name, size in zip(names, shape, strict=True):
            sizes[name] = max(size, sizes.get(name, 1))
    builder = RuleBuilder(op)
    apart: list[tuple[int, int]] = []
    for name, size in sizes.items():
        found = [
            (tensor, dim)
            for tensor, names in enumerate(places)
            for dim, label in enumerate(names)
            if label == name
        ]
        is_diagonal = any(names.count(name) > 1 for names in places)
        tied = {t: d for t, d in found if shapes[t][d] == size and not is_diagonal}
        apart.extend((t, d) for t, d in found if t not in tied)
        dims = [tied.get(tensor) for tensor in range(len(places))]
        if tied:
            kind = PASS_THROUGH if name in places[-1] else REDUCTION
            builder.factor(size, dims[:-1], dims[-1:], kind)
    for tensor, dim in apart:
        dims = [dim if at == tensor else None for at in range(len(places))]
        builder.factor(shapes[tensor][dim], dims[:-1], dims[-1:], NEED_REPLICATION)
    return builder.build()
