# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The strategies of an operation: the ways to compute it on shards.

1. A strategy assigns each axis of the mesh to a factor of the operation's sharding rule, or to
   none. The rule is that of the partitioner (`rule_on_shards`), and factors along which the
   partitioner can't compute on shards (`blocked_factors`) get no axes.
2. An axis is assigned as a whole, or by sub-axes if the choices permit them (`assignments`).
   Several axes of a factor are in the order of the mesh, or in one that the user has written
   somewhere. The shards of factors and dimensions must be even, unless the choices permit uneven
   ones, which are padded; some factors can't be padded.
3. A dimension of several factors is sharded along a minor factor only if its major factors are
   sharded fully, since shardings can't express strides.
4. Where reduced factors are sharded, the results are partial. A strategy completes them by an
   all-reduce, or by a reduce-scatter along dimensions that the axes divide. Operations that
   complete their results themselves, as a product of elements, have no reduce-scatter.

Example: a product `[i, k], [k, j] -> [i, j]` on a mesh `<["x"=2]>` has the strategies: no axes; `x`
along `i`, or `j`; `x` along `k` and an all-reduce; `x` along `k` and a reduce-scatter along the
first or the second dimension of the result.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import repeat

from mlir_sdy.model import (
    AxisTuple,
    DimMapping,
    Mesh,
    OpShardingRule,
    Shape,
    TensorMapping,
    TensorSharding,
    add_or_merge,
)
from pyshardy.irtools.tensor_types import shard_elements
from pyshardy.partition.choice.enumerate import AxisChoices, assignments
from pyshardy.partition.types.factor_axes import FactorAxes, axes_of_tensors, contracted_axes
from pyshardy.partition.types.steps import AxesPerDim


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to compute an operation on shards.

    Attributes:
        operands: the axes of each dimension of each operand.
        computed: those of each result as it is computed.
        results: those of each result after its completion.
        reduced: the axes along which computed results are partial.
        num_parts: the number of parts that the arithmetic is divided into; smaller than the number
            of shards if these are padded.
        factors: the axes of each factor of the rule.
    """

    operands: tuple[AxesPerDim, ...]
    computed: tuple[AxesPerDim, ...]
    results: tuple[AxesPerDim, ...]
    reduced: AxisTuple = ()
    num_parts: float = 1
    factors: FactorAxes = ()


def strategies_of_rule(
    rule: OpShardingRule,
    shapes: Sequence[Shape],
    blocked: frozenset[int],
    choices: AxisChoices,
    even: frozenset[int] = frozenset(),
    *,
    scatters: bool = True,
) -> list[Strategy]:
    """Return the strategies of an operation.

    Args:
        rule: the rule by which it is partitioned.
        shapes: the global shapes of its operands, then results.
        blocked: the factors that must not be sharded.
        choices: the axes.
        even: the factors whose shards must be even, even if the choices permit uneven ones.
        scatters: whether a reduce-scatter can complete results.
    """
    mesh = choices.mesh
    even = even if choices.uneven else frozenset(range(rule.num_factors))
    num_operands = len(rule.operand_mappings)
    made = rule.result_mappings
    paddable = paddable_dims(made[0], even) if len(made) == 1 else frozenset[int]()
    found: dict[Strategy, None] = {}
    for axes in assignments(rule, blocked, choices, even):
        if not all(_is_expressible(mapping, axes, rule, mesh) for mapping in rule.mappings):
            continue
        tensors = axes_of_tensors(rule, axes, mesh)
        if not all(map(_divides, tensors, shapes, rule.mappings, repeat(even), repeat(mesh))):
            continue
        computed = tensors[num_operands:]
        reduced = contracted_axes(rule, axes, mesh)
        num_parts = num_parts_of(rule.factor_sizes, axes, mesh)
        completed = completions(
            computed, shapes[num_operands:], reduced if scatters else (), choices, paddable
        )
        for results in completed:
            one = Strategy(tensors[:num_operands], computed, results, reduced, num_parts, axes)
            found[one] = None
    return list(found)


def replicated_strategy(shapes: Sequence[Shape], num_operands: int) -> Strategy:
    """Return the strategy in which each device computes the whole operation."""
    tensors = tuple(((),) * len(shape) for shape in shapes)
    return Strategy(tensors[:num_operands], tensors[num_operands:], tensors[num_operands:])


def axes_of_tensor(
    shape: Shape,
    choices: AxisChoices,
    given: TensorSharding | None = None,
    *,
    is_even: bool = False,
) -> list[AxesPerDim]:
    """Return the axes per dimension that a tensor may have, replicated first.

    Args:
        shape: the global shape.
        choices: the axes.
        given: a sharding by the user; see `agrees_with`.
        is_even: whether its shards must be even, even if the choices permit uneven ones.
    """
    rule = OpShardingRule(
        tuple(shape),
        (),
        (_mapping_of(len(shape)),),
    )
    found = [
        strategy.results[0]
        for strategy in strategies_of_rule(
            rule, (shape,), frozenset(), choices, frozenset(range(len(shape)) if is_even else ())
        )
        if given is None or agrees_with(strategy.results[0], given)
    ]
    if not found and given is not None:
        found = [tuple(given.dim_axes)]
    return found


def agrees_with(axes: AxesPerDim, given: TensorSharding) -> bool:
    """Whether a tensor may have some axes, given a sharding by the user.

    Closed dimensions have exactly the given axes, open ones begin with them, and no dimension has
    an axis along which the sharding is replicated.
    """
    replicated = {axis.name for axis in given.replicated_axes}
    for own, dim in zip(axes, given.dim_shardings, strict=True):
        if dim.is_closed and own != dim.axes:
            return False
        if own[: len(dim.axes)] != dim.axes or any(axis.name in replicated for axis in own):
            return False
    return True


def _mapping_of(rank: int) -> TensorMapping:
    return TensorMapping(tuple(DimMapping((dim,)) for dim in range(rank)))


def num_parts_of(sizes: Shape, axes: Sequence[AxisTuple], mesh: Mesh) -> float:
    """Return the quotient of the size of a whole and that of its padded part.

    Example: 10 rows in 4 shards, of which the largest has 3, are 10 / 3 parts.

    Args:
        sizes: the sizes of the dimensions of a tensor, or of the factors of an operation.
        axes: the axes of each.
        mesh: the mesh.
    """
    if not all(sizes):
        return float(math.prod(map(mesh.axes_size, axes)))
    return math.prod(sizes) / shard_elements(sizes, axes, mesh)


def _is_expressible(
    mapping: TensorMapping, axes: FactorAxes, rule: OpShardingRule, mesh: Mesh
) -> bool:
    """Whether each dimension is sharded along minor factors only if its major ones are full."""
    for dim in mapping.dim_mappings:
        is_full = True
        for factor in dim.factor_indices:
            if axes[factor] and not is_full:
                return False
            is_full = is_full and mesh.axes_size(axes[factor]) == rule.factor_sizes[factor]
    return True


def paddable_dims(mapping: TensorMapping, even: frozenset[int]) -> frozenset[int]:
    """Return the dimensions of a tensor that may be padded.

    Padding is at the end of a dimension, so that one of several factors is none of them.

    Args:
        mapping: the factors of the tensor.
        even: the factors whose shards must be even.
    """
    return frozenset(
        number
        for number, dim in enumerate(mapping.dim_mappings)
        if len(dim.factor_indices) == 1 and dim.factor_indices[0] not in even
    )


def _divides(
    axes: AxesPerDim, shape: Shape, mapping: TensorMapping, even: frozenset[int], mesh: Mesh
) -> bool:
    """Whether the shards of all dimensions are even, but for those that may be padded."""
    paddable = paddable_dims(mapping, even)
    return all(
        number in paddable or size % mesh.axes_size(each) == 0
        for number, (size, each) in enumerate(zip(shape, axes, strict=True))
    )


def completions(
    computed: tuple[AxesPerDim, ...],
    shapes: Sequence[Shape],
    reduced: AxisTuple,
    choices: AxisChoices,
    paddable: Set[int] = frozenset(),
) -> Iterator[tuple[AxesPerDim, ...]]:
    """Yield the axes of the results after completion: by an all-reduce, then reduce-scatters.

    Only a single result is scattered. All axes are, or some of them, whose results are reduced
    along the others before.

    Args:
        computed: the axes of each result as it is computed.
        shapes: the global shapes of the results.
        reduced: the axes along which they are partial.
        choices: the axes that may be used.
        paddable: the dimensions of the result that may be padded, if they aren't sharded before.
    """
    yield computed
    if not reduced or len(computed) != 1:
        return
    (axes,), (shape,) = computed, shapes
    dims: tuple[int | None, ...] = (None, *range(len(shape)))
    for places in itertools.product(dims, repeat=len(reduced)):
        scattered = [*axes]
        for axis, dim in zip(reduced, places, strict=True):
            if dim is not None:
                scattered[dim] = add_or_merge(scattered[dim], axis, choices.mesh)
        changed = [dim for dim in dims if dim is not None and scattered[dim] != axes[dim]]
        if changed and all(
            choices.permits(scattered[dim])
            and (
                (dim in paddable and not axes[dim])
                or shape[dim] % choices.mesh.axes_size(scattered[dim]) == 0
            )
            for dim in changed
        ):
            yield (tuple(scattered),)
