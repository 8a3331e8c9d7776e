# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that a program sorts by groups, and of which it doesn't matter how they are sorted.

A mixture of experts sorts the tokens by expert, gathers their rows in this order, multiplies the
rows of each expert with its matrix (`chlo.ragged_dot`), and puts the results back:

    order = argsort(expert)
    y = ragged_dot(x[order], w, bincount(expert))
    return y[argsort(order)]

The rows could as well be sorted within each of several equal blocks, with group sizes for each
block: then devices that have a block of the tokens need no rows of others. `SortedRows.of` says
whether that gives the same results, up to the order of sums. A value has *sorted rows* along a
dimension if its row i depends only on the token at position i of the order; all of these hold:

1. The sort is `argsort` of one dimension of integers: two operands, the second of which is an
   `iota`; the first ones of results are compared by `LT`. Its results have sorted rows.
2. An operation that computes the rows of its results from the same rows of its operands, by its
   rule, gives sorted rows, if its other operands are equal along the dimension. A sum, product,
   maximum or minimum over sorted rows is the same for all orders, and so is a product that
   contracts them with others that are.
3. A gather at sorted indices gives sorted rows. It is *local* if the indices of a block of tokens
   are within one block of the operand, which is found by computing them for the order 0, 1, 2, ...
   A scatter of sorted rows to sorted indices gives a value in the order of tokens; it is local
   likewise, and adds, or has each index once.
4. `argsort` of the order gives the *places* of tokens. A gather of sorted rows at the places is in
   the order of tokens, and a scatter to the places gives sorted rows; both are local.
5. A constraint of sorted rows shards them as the blocks will be.
6. A `chlo.ragged_dot` of sorted rows has as group sizes the number of tokens of each group: a
   scatter that adds ones, or a sum of comparisons with an `iota`. The group of a token follows from
   the integer that it is sorted by, for all of which (see `bounds_of_indices`) it is computed: it
   doesn't fall, and only the largest may be in no group.
7. Neither sorted rows nor places are used by anything else: they aren't returned, for example.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, FactorType, OpShardingRule
from mlir_sdy.uses import defining_operation, producer
from mlir_sdy.values import get_sharding
from pyshardy.irtools.constants import CONSTANTS, is_one_value, uniform_element
from pyshardy.irtools.ragged_dots import RAGGED_DOT
from pyshardy.irtools.stablehlo_views import (
    BroadcastView,
    CompareView,
    GatherView,
    IotaView,
    RaggedDotView,
    ReduceView,
    ScatterView,
    SortView,
)
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.op_facts.known_integers import (
    IntegerArray,
    bounds_of_indices,
    known_integers,
)
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.rules.lookup import ShardingRuleLookup

_MOST_ROWS = 2**23
"""The most rows whose indices are computed."""

_EXCLUDED = frozenset(
    {
        *("stablehlo.custom_call", "stablehlo.rng", "stablehlo.rng_bit_generator"),
        *("stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice", "func.call"),
        *("stablehlo.while", "stablehlo.case", "stablehlo.if"),
    }
)
"""Operations with a rule whose rows may depend on their positions or on other values."""


@dataclass(frozen=True)
class SortedRows:
    """The values and operations that depend on the order of a sort.

    Attributes:
        rows: the values with sorted rows, and the dimension of the rows.
        local: the operations to be computed for each block, in the order of the program: sorts,
            gathers, scatters, ragged products, and elementwise operations on rows.
        groups: for each operand with group sizes the group of each token, an integer of the tensor
            in the order of tokens.
    """

    rows: dict[ir.Value, int]
    local: tuple[ir.Operation, ...]
    groups: dict[ir.Value, ir.Value]

    @classmethod
    def of(
        cls, sort: ir.Operation, num_blocks: int, axes: AxisTuple, rules: ShardingRuleLookup
    ) -> SortedRows | None:
        """Return what depends on a sort; None if its order matters.

        Args:
            sort: a `stablehlo.sort`.
            num_blocks: the number of blocks, which divides the number of rows.
            axes: the axes along which blocks will be sharded.
            rules: the rules of operations.
        """
        if not is_argsort(sort):
            return None
        found = _Search(sort, num_blocks, axes, rules)
        return cls(found.rows, tuple(found.local), found.groups) if found.run() else None


def is_argsort(sort: ir.Operation) -> bool:
    """Whether a sort is the `argsort` of a vector of integers."""
    if len(sort.operands) != 2 or len(shape_of(sort.operands[0].type)) != 1:
        return False
    keys, numbers = sort.operands
    first = ir.RankedTensorType(keys.type).element_type
    if not isinstance(first, ir.IntegerType) or not _is_defined_by(numbers, "stablehlo.iota"):
        return False
    block = sort.regions[0].blocks[0]
    operations = [view.operation for view in block.operations]
    compared = operations[0]
    return (
        len(operations) == 2
        and compared.name == "stablehlo.compare"
        and CompareView(compared).comparison_direction == "LT"
        and list(compared.operands) == list(block.arguments)[:2]
        and list(operations[1].operands) == list(compared.results)
        and SortView(sort).dimension in (0, -1)
    )


def _is_defined_by(value: ir.Value, name: str) -> bool:
    return producer(value, name) is not None


@dataclass
class _Search:
    """Follows the order of a sort through its block."""

    sort: ir.Operation
    num_blocks: int
    axes: AxisTuple
    rules: ShardingRuleLookup
    rows: dict[ir.Value, int] = field(default_factory=dict["ir.Value", int])
    places: set[ir.Value] = field(default_factory=set["ir.Value"])
    local: list[ir.Operation] = field(default_factory=list["ir.Operation"])
    groups: dict[ir.Value, ir.Value] = field(default_factory=dict["ir.Value", "ir.Value"])

    def __post_init__(self) -> None:
        self._keys: ir.Value = self.sort.operands[0]
        self._num_rows: int = shape_of(self._keys.type)[0]
        self._identity: dict[ir.Value, IntegerArray] = {}

    def run(self) -> bool:
        """Whether the order doesn't matter; the attributes have the answer."""
        if self._num_rows > _MOST_ROWS:
            return False
        operations = [view.operation for view in self.sort.block.operations]
        number = {operation: index for index, operation in enumerate(operations)}
        self.local.append(self.sort)
        self._identity[self.sort.results[1]] = np.arange(self._num_rows)
        waiting = set[int]()
        new = list(self.sort.results)
        self.rows.update(dict.fromkeys(new, 0))
        queue: list[int] = []
        while True:
            for value in new:
                for use in value.uses:
                    index = number.get(use.owner.operation)
                    if index is None:
                        return False  # in a region
                    if index not in waiting:
                        waiting.add(index)
                        heapq.heappush(queue, index)
            if not queue:
                return any(each.name == RAGGED_DOT for each in self.local)
            operation = operations[heapq.heappop(queue)]
            if not self._takes(operation):
                return False
            new = [each for each in operation.results if each in self.rows or each in self.places]

    def _takes(self, operation: ir.Operation) -> bool:
        """Whether an operation may use sorted rows or places as it does; notes its results."""
        match operation.name:
            case "stablehlo.gather":
                return self._takes_gather(operation)
            case "stablehlo.scatter":
                return self._takes_scatter(operation)
            case "stablehlo.sort" if is_argsort(operation):
                return self._takes_second_sort(operation)
            case name if name == RAGGED_DOT:
                return self._takes_ragged_dot(operation)
            case "stablehlo.optimization_barrier":
                return self._takes_barrier(operation)
            case "sdy.reshard":
                return self._takes_reshard(operation)
            case name if name in _EXCLUDED:
                return False
            case _:
                pass
        if any(operand in self.places for operand in operation.operands):
            return self._takes_places(operation)
        return self._takes_rows(operation)

    # --- Operations on rows ---------------------------------------------------------------------

    def _takes_rows(self, operation: ir.Operation) -> bool:
        """Take an operation whose rule says that it computes rows from rows, or combines them."""
        rule = self.rules.rule(operation)
        if rule is None:
            return False
        factors = {
            _only_factor(rule, position, self.rows[operand])
            for position, operand in enumerate(operation.operands)
            if operand in self.rows
        }
        factor = factors.pop()
        if factors or factor is None or rule.factor_sizes[factor] != self._num_rows:
            return False
        for operand, mapping in zip(operation.operands, rule.operand_mappings, strict=True):
            dims = [
                dim
                for dim, each in enumerate(mapping.dim_mappings)
                if factor in each.factor_indices
            ]
            if any(
                self.rows.get(operand) != dim and not is_equal_along(operand, dim) for dim in dims
            ):
                return False
        kind = rule.factor_type(factor)
        if kind == FactorType.REDUCTION:
            return _combines(operation)
        if kind != FactorType.PASS_THROUGH:
            return False
        count = len(operation.operands)
        for number, result in enumerate(operation.results):
            dims = [
                dim
                for dim in range(len(shape_of(result.type)))
                if _only_factor(rule, count + number, dim) == factor
            ]
            if len(dims) != 1:
                return False
            self.rows[result] = dims[0]
        if _is_elementwise(operation, rule) and self.rows[operation.results[0]] == 0:
            self.local.append(operation)
        return True

    def _takes_reshard(self, operation: ir.Operation) -> bool:
        """Take a constraint that shards rows as they will be sharded."""
        dim = self.rows.get(operation.operands[0])
        sharding = get_sharding(operation.results[0])
        if dim is None or sharding is None or sharding.dim_axes[dim] != self.axes:
            return False
        self.rows[operation.results[0]] = dim
        return True

    def _takes_barrier(self, operation: ir.Operation) -> bool:
        for operand, result in zip(operation.operands, operation.results, strict=True):
            if operand in self.places:
                self.places.add(result)
            elif operand in self.rows:
                self.rows[result] = self.rows[operand]
            if operand in self._identity:
                self._identity[result] = self._identity[operand]
        return True

    def _takes_places(self, operation: ir.Operation) -> bool:
        """Take an operation that prepares indices from the place of the same token alone."""
        rule = self.rules.rule(operation)
        if rule is None or len(operation.results) != 1:
            return False
        factor = _only_factor(rule, len(operation.operands), 0)
        for position, operand in enumerate(operation.operands):
            if operand in self.places:
                if _only_factor(rule, position, 0) != factor:
                    return False
            elif shape_of(operand.type) and not is_equal_along(operand, 0):
                return False
        self.places.add(operation.results[0])
        return (
            factor is not None
            and rule.factor_type(factor) == FactorType.PASS_THROUGH
            and self._indices(operation.results[0]) is not None
        )

    def _indices(self, value: ir.Value) -> IntegerArray | None:
        """Return integers that depend on the order, for the order 0, 1, 2, ...; None if unknown."""
        return known_integers(value, self._identity, _MOST_ROWS)

    # --- Sorts, gathers and scatters --------------------------------------------------------------

    def _takes_second_sort(self, operation: ir.Operation) -> bool:
        """Take the `argsort` of the order."""
        order = self._indices(operation.operands[0])
        if order is None or not np.array_equal(order, np.arange(self._num_rows)):
            return False
        self.local.append(operation)
        self.places.add(operation.results[1])
        self._identity[operation.results[1]] = order
        return not any(True for _ in operation.results[0].uses)

    def _takes_gather(self, operation: ir.Operation) -> bool:
        operand, indices = operation.operands
        if not takes_rows(operation):
            return False
        if operand in self.rows:
            self.local.append(operation)
            return self.rows[operand] == 0 and indices in self.places and self._is_identity(indices)
        if operand in self.places or self.rows.get(indices) != 0:
            return False
        self.rows[operation.results[0]] = 0
        if self._is_within_blocks(indices, shape_of(operand.type)[0]):
            self.local.append(operation)
        return True

    def _takes_scatter(self, operation: ir.Operation) -> bool:
        if not takes_rows(operation):
            return False
        operand, indices, updates = operation.operands
        combined = combining_operations(operation.regions[0].blocks[0])
        if indices in self.places:
            self.local.append(operation)
            self.rows[operation.results[0]] = 0
            is_filled = self.rows.get(operand) == 0 or is_equal_along(operand, 0)
            is_new = updates not in self.rows and updates not in self.places
            return is_filled and is_new and self._is_identity(indices)
        is_sorted = self.rows.get(indices) == 0 and self.rows.get(updates) == 0
        if not is_sorted or operand in self.rows or operand in self.places:
            return False
        if combined is None and not self._has_each_once(operation, indices):
            return False
        if self._is_within_blocks(indices, shape_of(operand.type)[0]):
            self.local.append(operation)
        return True

    def _has_each_once(self, scatter: ir.Operation, indices: ir.Value) -> bool:
        """Whether a scatter replaces rows at different indices."""
        block = scatter.regions[0].blocks[0]
        *others, end = [view.operation for view in block.operations]
        known = self._indices(indices)
        is_replaced = not others and list(end.operands) == [block.arguments[1]]
        return is_replaced and known is not None and len(np.unique(known)) == known.size

    def _is_identity(self, indices: ir.Value) -> bool:
        known = self._indices(indices)
        return known is not None and np.array_equal(known.ravel(), np.arange(self._num_rows))

    def _is_within_blocks(self, indices: ir.Value, size: int) -> bool:
        """Whether the rows of a block of tokens have indices in one block of a dimension."""
        known = self._indices(indices)
        if known is None or size % self.num_blocks:
            return False
        block = np.arange(self._num_rows) // (self._num_rows // self.num_blocks)
        return np.array_equal(known.ravel() // (size // self.num_blocks), block)

    # --- Ragged products --------------------------------------------------------------------------

    def _takes_ragged_dot(self, operation: ir.Operation) -> bool:
        numbers = RaggedDotView(operation).ragged_dot_dimension_numbers
        lhs, rhs, sizes = operation.operands
        if numbers.lhs_batching or numbers.lhs_ragged != (0,) or self.rows.get(lhs) != 0:
            return False
        if sizes in self.rows or sizes in self.places or len(shape_of(sizes.type)) != 1:
            return False
        if sizes not in self.groups:
            group = self._group_of(sizes)
            if group is None:
                return False
            self.groups[sizes] = group
        self.local.append(operation)
        if numbers.is_contracting:
            return numbers.rhs_dim(0) == 0 and self.rows.get(rhs) == 0
        if rhs in self.rows or rhs in self.places:
            return False
        self.rows[operation.results[0]] = 0
        return True

    def _group_of(self, sizes: ir.Value) -> ir.Value | None:
        """Return the group of each token, of which group sizes are the numbers of tokens."""
        count = shape_of(sizes.type)[0]
        group = counted_values(sizes, self._num_rows)
        bounds = bounds_of_indices(self._keys)
        if group is None or bounds is None or bounds[1] - bounds[0] > _MOST_ROWS:
            return None
        root = self._keys  # which others may have reshaped, too
        while _is_defined_by(root, "stablehlo.reshape"):
            root = root.owner.operation.operands[0]
        keys = np.arange(bounds[0], bounds[1] + 1)
        groups: list[IntegerArray] = []
        for start in range(0, len(keys), self._num_rows):
            some = np.resize(keys[start : start + self._num_rows], self._num_rows)
            known = known_integers(group, {root: some.reshape(shape_of(root.type))}, _MOST_ROWS)
            if known is None:
                return None
            groups.append(known.ravel()[: len(keys) - start])
        found = np.concatenate(groups)
        rises = (np.diff(np.minimum(found, count)) >= 0).all()
        return group if rises and found.min() >= 0 else None


# --- Facts of single operations ------------------------------------------------------------------


def counted_values(sizes: ir.Value, num_values: int) -> ir.Value | None:
    """Return the integers of which another tensor has the numbers of 0, 1, 2, ...; else None.

    1. A scatter that adds ones to zeros, at the integers.
    2. A sum of the comparisons of the integers with an `iota`.

    Args:
        sizes: the tensor of one dimension.
        num_values: the number of integers, which are in a tensor of this many elements.
    """
    value = _behind_conversions(sizes)
    operation = defining_operation(value)
    if operation is None:
        return None
    if operation.name == "stablehlo.scatter" and len(operation.operands) == 3:
        operand, indices, updates = operation.operands
        adds = combining_operations(operation.regions[0].blocks[0]) == ("stablehlo.add",)
        is_count = _filled_with(operand) == 0 and _filled_with(updates) == 1
        fits = takes_rows(operation) and shape_of(updates.type) == (num_values,)
        return indices if adds and is_count and fits else None
    if operation.name != "stablehlo.reduce" or len(operation.operands) != 2:
        return None
    tensor, initial = operation.operands
    shape, dims = shape_of(tensor.type), ReduceView(operation).dimensions
    adds = combining_operations(operation.regions[0].blocks[0]) == ("stablehlo.add",)
    if not adds or _filled_with(initial) != 0 or len(shape) != 2 or len(dims) != 1:
        return None
    compared = _behind_conversions(tensor)
    if not _is_defined_by(compared, "stablehlo.compare"):
        return None
    comparison = compared.owner.operation
    if CompareView(comparison).comparison_direction != "EQ" or shape[dims[0]] != num_values:
        return None
    for group, numbers in (comparison.operands, list(comparison.operands)[::-1]):
        values = _spread(group, dims[0])
        if values is not None and _is_iota_along(numbers, 1 - dims[0]):
            return values
    return None


def _behind_conversions(value: ir.Value) -> ir.Value:
    while _is_defined_by(value, "stablehlo.convert"):
        value = value.owner.operation.operands[0]
    return value


def _filled_with(value: ir.Value) -> float | None:
    """Return the number that a tensor is filled with; None if it isn't known."""
    element = uniform_element(value, ("stablehlo.broadcast_in_dim", "stablehlo.convert"))
    return element.value if isinstance(element, ir.IntegerAttr | ir.FloatAttr) else None


def _spread(value: ir.Value, dim: int) -> ir.Value | None:
    """Return the vector that a matrix repeats along its other dimension; None if there is none."""
    size = shape_of(value.type)[dim]
    while not isinstance(value, ir.BlockArgument):
        shape = shape_of(value.type)
        if shape == (size,):
            return value
        operation = value.owner.operation
        if operation.name == "stablehlo.broadcast_in_dim":
            dims = BroadcastView(operation).broadcast_dimensions
            inner = shape_of(operation.operands[0].type)
            kept = [at for at, to in enumerate(dims) if to == dim and inner[at] == size]
            others = [at for at, to in enumerate(dims) if to != dim and inner[at] != 1]
            if len(kept) != 1 or others:
                return None
            dim = kept[0]
        elif operation.name == "stablehlo.reshape" and _count(operation.operands[0]) == size:
            inner = shape_of(operation.operands[0].type)
            dim = inner.index(size)
        else:
            return None
        value = operation.operands[0]
    return value if shape_of(value.type) == (size,) else None


def _count(value: ir.Value) -> int:
    return int(np.prod(shape_of(value.type)))


def _is_iota_along(value: ir.Value, dim: int) -> bool:
    """Whether a tensor has the positions along a dimension."""
    if isinstance(value, ir.BlockArgument):
        return False
    operation, shape = value.owner.operation, shape_of(value.type)
    if operation.name == "stablehlo.iota":
        return IotaView(operation).iota_dimension == dim
    inner = operation.operands[0] if len(operation.operands) else None
    if operation.name == "stablehlo.broadcast_in_dim" and inner is not None:
        dims = BroadcastView(operation).broadcast_dimensions
        at = dims.index(dim) if dim in dims else None
        is_whole = at is not None and shape_of(inner.type)[at] == shape[dim]
        return is_whole and _is_iota_along(inner, dims.index(dim))
    if operation.name == "stablehlo.reshape" and inner is not None:
        sizes = shape_of(inner.type)
        is_vector = max((*sizes, 1)) == max((*shape, 1)) == shape[dim] == _count(inner)
        return is_vector and _is_iota_along(inner, sizes.index(shape[dim]))
    known = known_integers(value) if len(shape) == 1 else None
    return known is not None and np.array_equal(known, np.arange(len(known)))


def takes_rows(operation: ir.Operation) -> bool:
    """Whether a gather or scatter is about whole rows: slices along dimension 0, at a list of them.

    Row i of the result, or of the updates, belongs to index i of indices of shape N x 1.
    """
    operand, indices = list(operation.operands)[:2]
    shape = shape_of(operand.type)
    behind = list(range(1, len(shape)))
    if operation.name == "stablehlo.gather":
        view = GatherView(operation)
        roles = view.dimension_numbers
        fits = list(view.slice_sizes)[1:] == list(shape[1:])
        window, inserted = roles.offset_dims, roles.collapsed_slice_dims
        batching, mapped = roles.operand_batching_dims, roles.start_index_map
    else:
        roles = ScatterView(operation).scatter_dimension_numbers
        fits = len(operation.results) == 1
        if fits:
            fits = shape_of(operation.operands[2].type)[1:] == shape[1:]
        window, inserted = roles.update_window_dims, roles.inserted_window_dims
        batching, mapped = roles.input_batching_dims, roles.scattered_dims_to_operand_dims
    rank = len(shape_of(indices.type))
    return (
        fits
        and list(window) == behind
        and (list(inserted), list(batching), list(mapped)) == ([0], [], [0])
        and (rank, roles.index_vector_dim) == (2, 1)
    )


def is_equal_along(value: ir.Value, dim: int) -> bool:
    """Whether a tensor is the same at all positions of a dimension, as far as its definition says.

    It is a filled constant, is broadcast along the dimension, or is computed elementwise from such.
    """
    operation = defining_operation(value)
    if operation is None:
        return False
    if operation.name in CONSTANTS:
        return is_one_value(operation)
    if operation.name == "stablehlo.broadcast_in_dim":
        dims = BroadcastView(operation).broadcast_dimensions
        if dim not in dims:
            return True
        inner = operation.operands[0]
        at = dims.index(dim)
        return shape_of(inner.type)[at] == 1 or is_equal_along(inner, at)
    shape = shape_of(value.type)
    is_simple = not operation.regions and all(
        shape_of(each.type) == shape for each in operation.operands
    )
    name = operation.name.removeprefix("stablehlo.")
    return (
        is_simple
        and name in ("convert", "negate", "add", "multiply", "subtract", "divide")
        and all(is_equal_along(each, dim) for each in operation.operands)
    )


def _is_elementwise(operation: ir.Operation, rule: OpShardingRule) -> bool:
    """Whether an operation, without regions, computes elements from those at the same place."""
    used = [each.dim_mappings for each in rule.mappings if each.dim_mappings]
    return not operation.regions and all(each == used[0] for each in used)


def _only_factor(rule: OpShardingRule, position: int, dim: int) -> int | None:
    """Return the factor of a dimension that has a single one."""
    dims = rule.mappings[position].dim_mappings
    factors = dims[dim].factor_indices if dim < len(dims) else ()
    return factors[0] if len(factors) == 1 else None


def _combines(operation: ir.Operation) -> bool:
    """Whether a reduction gives the same result for all orders."""
    if operation.name == "stablehlo.reduce":
        return combining_operations(operation.regions[0].blocks[0]) is not None
    return operation.name == "stablehlo.dot_general"
