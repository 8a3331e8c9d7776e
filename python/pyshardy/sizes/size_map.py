# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes of all values of a program with dynamic sizes, as expressions of its symbols.

1. Sizes of arguments are given. Those of results follow from operands that are sizes, from numbers
   in attributes, or from the sharding rule: dimensions of one factor that passes through have one
   size. A result whose size follows from none of these gets a symbol of its own, `d1`.
2. Operations such as sums and products demand that dimensions are equal. If their expressions
   differ, that is an `Equality`, and from there on one replaces the other:

       %0 = stablehlo.add %x, %y : tensor<?xf32>      // y0 == x0
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, OpShardingRule, TensorSharding, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import SCALAR_BODIES, may_have_regions, named_operations_in, terminator_of
from mlir_sdy.values import COMPUTATIONS, OWN_SHARDING, manual_axes
from pyshardy.irtools.stablehlo_views import (
    AllGatherView,
    AllToAllView,
    BroadcastView,
    CollectiveView,
    ConcatenateView,
    ConvolutionView,
    DimensionSizeView,
    GatherView,
    PadView,
    ReduceScatterView,
    target_of,
)
from pyshardy.irtools.static_shapes import SIZES_OF, shape_operands_of
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.rules.families.pointwise import POINTWISE_OPERATIONS
from pyshardy.rules.lookup import ShardingRuleLookup
from pyshardy.rules.signature import OperationParts, TensorType
from pyshardy.sizes.reduce_windows import DYNAMIC_REDUCE_WINDOW, window_numbers
from pyshardy.sizes.signature import DynamicSignature, entry_of, is_static
from pyshardy.sizes.size import Number, Size, number_of
from pyshardy.sizes.size_reader import DIMENSION_SIZE, SizeReader
from pyshardy.sizes.symbols import SizeSymbol, read_symbols

Place = tuple[int, int]
"""A dimension of a tensor: the position of the tensor, and the dimension."""


@dataclass(frozen=True, slots=True)
class Equality:
    """Two sizes that an operation at a place demands equal, but whose expressions differ.

    The right one replaces the left one, if that is a symbol.
    """

    left: Size
    right: Size
    operation: str
    place: SourceLocation | None

    def __str__(self) -> str:
        where = "" if self.place is None else f" at {self.place}"
        return f"{self.left} == {self.right}: checked at run time; '{self.operation}' op{where}"


class SizeMap:
    """The sizes of the values of a program; see the description of the module.

    Args:
        module: the program, without calls.
        signature: its arguments.
        values: the values of symbols; sizes are expressions of the others.

    Attributes:
        equalities: the sizes that operations demand equal.
        operations: the operations of the program with their names, apart from `SCALAR_BODIES`.
    """

    def __init__(
        self,
        module: ir.Module,
        signature: DynamicSignature,
        values: Mapping[str, int] | None = None,
    ):
        block = entry_of(module).regions[0].blocks[0]
        given = {name: Size.of(value) for name, value in (values or {}).items()}
        self.equalities: list[Equality] = []
        self.operations: list[tuple[ir.Operation, str]] = []
        self._lookup = ShardingRuleLookup.shared(module.context)
        self._declared, self._meshes = read_symbols(module), meshes_of(module)
        self._kept = frozenset(signature.constants.values())
        self._read: dict[ir.Value, Sequence[Size] | None] = {
            block.arguments[index]: [given.get(name) or Size.symbol(name)]
            for index, name in signature.constants.items()
        }
        self._reader = SizeReader(self._source, signature.symbols)
        self._equal: dict[str, Size] = {}
        self._numbers: dict[Size, int] = {}
        self._made: dict[Hashable, list[Sequence[Size]]] = {}
        self._shapes: dict[Sequence[Size], Sequence[Size]] = {}  # one object for equal ones
        self._of_types: dict[ir.Type, Sequence[Size]] = {}
        self._sizes: dict[ir.Value, Sequence[Size]] = {}
        for each in signature.arguments:
            if not is_static(block.arguments[each.index]):
                self._set(block.arguments[each.index], (s.replaced(given) for s in each.sizes))
        self._visit_block(block)

    def sizes(self, value: ir.Value) -> Sequence[Size]:
        """Return the sizes of the dimensions of a tensor."""
        known = self._sizes.get(value)
        if known is not None:
            return self.replaced(known)
        kind = value.type
        if kind not in self._of_types:
            shape = shape_of(kind)
            if min(shape, default=0) < 0:
                fresh = (self._reader.fresh(value) if n < 0 else Size.of(n) for n in shape)
                return self._set(value, fresh)
            self._of_types[kind] = tuple(map(Size.of, shape))
        return self._of_types[kind]

    def _set(self, value: ir.Value, sizes: Iterable[Size]) -> Sequence[Size]:
        """Give a value its sizes."""
        shape = tuple(sizes)
        self._sizes[value] = self._shapes.setdefault(shape, shape)
        return shape

    def replaced(self, sizes: Sequence[Size]) -> Sequence[Size]:
        """Return sizes in terms of the symbols that are left."""
        return [each.replaced(self._equal) for each in sizes] if self._equal else sizes

    @property
    def dynamic(self) -> Iterator[tuple[ir.Value, Sequence[Size]]]:
        """The values of dynamic sizes, with these; values of equal sizes may have one object."""
        return ((value, self.replaced(sizes)) for value, sizes in self._sizes.items())

    @property
    def given(self) -> Collection[ir.Value]:
        """The arguments of blocks that are sizes."""
        return self._read.keys()

    @property
    def scalars(self) -> Mapping[str, ir.Value]:
        """The values at which symbols arise that no argument has."""
        return self._reader.scalars

    def symbols(self, symbols: Mapping[str, SizeSymbol]) -> dict[str, SizeSymbol]:
        """Return the symbols that are left, with the limits of those that they replace."""
        found = {name: each for name, each in symbols.items() if name not in self._equal}
        for name, size in self._equal.items():
            other = next((each for each in found if Size.symbol(each) == size), None)
            if other is not None and name in self._declared:
                found[other] = found[other].limited_as(symbols[name])
        return found

    def read(self, value: ir.Value) -> Sequence[Size] | None:
        """Return the elements of a vector of sizes; None if they aren't known."""
        found = self._reader.read(value)
        return None if found is None else self.replaced(found)

    def bounds(self, size: Size) -> tuple[int | None, int | None]:
        """Return limits of a size; None where none is known."""
        return self._reader.bounds(size)

    def vectors(self, operation: ir.Operation) -> list[Sequence[Size] | None]:
        """Return the elements of the operands that determine the types of results."""
        return [self.read(operation.operands[index]) for index in shape_operands(operation)]

    def _source(self, value: ir.Value) -> Sequence[Size] | None:
        if isinstance(value, ir.BlockArgument):
            return self._read.get(value)
        operation = value.owner.operation
        if operation.name != DIMENSION_SIZE:
            return None
        return [self.sizes(operation.operands[0])[DimensionSizeView(operation).dimension]]

    # --- Walk -----------------------------------------------------------------------------------

    def _visit_block(self, block: ir.Block) -> None:
        for view in block.operations:
            operation = view.operation
            name, operands = operation.name, list(operation.operands)
            self.operations.append((operation, name))
            if name == "stablehlo.while":
                for region in operation.regions:
                    self._keep(region.blocks[0].arguments, operands)
                    self._visit_block(region.blocks[0])
                returned = terminator_of(operation.regions[1].blocks[0]).operands
                self._keep(operation.results, operands)
                self._equate_all(operation, [operands, list(returned)])
            elif name in _BRANCHES:
                for region in operation.regions:
                    self._visit_block(region.blocks[0])
                yields = [list(terminator_of(r.blocks[0]).operands) for r in operation.regions]
                self._keep(operation.results, yields[0])
                self._equate_all(operation, yields)
            elif name in COMPUTATIONS:
                self._visit_computation(operation)
            elif name not in _WITHOUT:
                self._visit(operation, name, operands)
                if name not in _POINTWISE and may_have_regions(name) and name not in SCALAR_BODIES:
                    self.operations += named_operations_in(operation, leaving_out=SCALAR_BODIES)[1:]

    def _keep(self, values: Sequence[ir.Value], sources: Sequence[ir.Value]) -> None:
        for value, source in zip(values, sources, strict=True):
            if not is_static(value):
                self._set(value, self._sizes.get(source) or self.sizes(source))

    def _visit_computation(self, operation: ir.Operation) -> None:
        """Visit a computation, in which the sizes of operands are divided by manual axes."""
        body, operands = operation.regions[0].blocks[0], operation.operands
        counts_of = self._shards(operation, "in_shardings", operands)
        for value, argument, counts in zip(operands, body.arguments, counts_of, strict=True):
            pairs = zip(self.sizes(value), counts, strict=True)
            if not is_static(argument):
                self._set(argument, (size // count for size, count in pairs))
            if isinstance(value.type, ir.RankedTensorType) and not counts:
                self._read[argument] = self.read(value)
        self._visit_block(body)
        returned, results = terminator_of(body).operands, operation.results
        counts_of = self._shards(operation, "out_shardings", results)
        for value, result, counts in zip(returned, results, counts_of, strict=True):
            if not is_static(result):
                pairs = zip(self.sizes(value), counts, strict=True)
                self._set(result, (size * count for size, count in pairs))

    def _shards(
        self, operation: ir.Operation, attribute: str, values: Iterable[ir.Value]
    ) -> Iterator[list[int]]:
        """Yield the numbers of shards of the dimensions of values along manual axes."""
        given, manual = get_discardable(operation, attribute), frozenset(manual_axes(operation))
        shardings: Sequence[TensorSharding] = () if given is None else value_of(given).shardings
        for value, sharding in itertools.zip_longest(values, shardings):
            if sharding is None:
                yield [1] * len(shape_of(value.type))
                continue
            mesh = mesh_of(sharding, self._meshes) or Mesh()
            yield [
                mesh.axes_size(axis for axis in axes if axis.name in manual)
                for axes in sharding.dim_axes
            ]

    def _visit(self, operation: ir.Operation, name: str, operands: Sequence[ir.Value]) -> None:
        of_operands = list(map(self._sizes.get, operands))
        results = list(operation.results)
        is_known = of_operands.count(None) == len(operands) and all(map(is_static, results))
        if is_known or not results:
            return
        if name in _POINTWISE:
            if of_operands.count(of_operands[0]) < len(operands) or of_operands[0] is None:
                self._equate_all(operation, [[each] for each in operands])
            self._keep(results, operands[:1])
            return
        kind = target_of(operation) if name == "stablehlo.custom_call" else name
        rule_key = None
        if kind == name and name not in _FUNCTIONS and name not in _FIRST_SIZE:
            rule_key = self._lookup.rule_key(OperationParts(operation, name, operands, results))
        key = (rule_key, *map(id, of_operands))
        made = None if rule_key is None else self._made.get(key)
        if made is None:
            counts = len(self.equalities), len(self.scalars)
            made = self._sizes_of_results(operation, _FUNCTIONS.get(kind, _of_shapes))
            if rule_key is not None and counts == (len(self.equalities), len(self.scalars)):
                self._made[key] = made
        for value, shape in zip(results, made, strict=True):
            if not is_static(value):
                self._set(value, shape)

    def _sizes_of_results(
        self, operation: ir.Operation, find: Callable[[SizeMap, ir.Operation], _Found]
    ) -> list[Sequence[Size]]:
        operands, results = list(operation.operands), list(operation.results)
        found = dict(find(self, operation))
        shapes = [() if is_static(each) else shape_of(each.type) for each in results]
        places = [(at, dim) for at, shape in enumerate(shapes) for dim in range(len(shape))]
        missing = [at for at in places if shapes[at[0]][at[1]] < 0 and at not in found]
        if missing or operation.name in _ALIKE:
            types = (list(map(self._type, each)) for each in (operands, results))
            factors = _factors(self._lookup.rule_for_types(operation, *types))
            of_factors: dict[int, Size] = {}
            for index, value in enumerate(operands):
                for dim, size in enumerate(self.sizes(value)):
                    if (index, dim) in factors:
                        other = of_factors.setdefault(factors[index, dim], size)
                        if other != size and operation.name in _ALIKE:
                            self.equate(operation, other, size)
            for index, dim in missing:
                size = of_factors.get(factors.get((len(operands) + index, dim), -1))
                found[index, dim] = size or self._reader.fresh(results[index])
        return [
            tuple(Size.of(n) if n >= 0 else found[index, dim] for dim, n in enumerate(shape))
            for index, shape in enumerate(shapes)
        ]

    def _type(self, value: ir.Value) -> TensorType | None:
        """Return the type with a number for each expression, which no static size has."""
        tensor = self._lookup.tensor_type(self._lookup.type_key(value.type))
        if tensor is None or tensor.is_static:
            return tensor
        known = self._sizes.get(value)
        return (
            tensor
            if known is None
            else TensorType(tuple(map(self._number, self.replaced(known))), tensor.element_type)
        )

    def _number(self, size: Size) -> int:
        if size.constant is not None:
            return size.constant
        return self._numbers.setdefault(size, _FIRST_NUMBER + len(self._numbers))

    def _equate_all(self, operation: ir.Operation, several: Sequence[Sequence[ir.Value]]) -> None:
        first, *others = several
        for values in others:
            for one, other in zip(map(self.sizes, first), map(self.sizes, values), strict=True):
                for left, right in zip(one, other, strict=True) if one is not other else ():
                    self.equate(operation, left, right)

    def equate(self, operation: ir.Operation, one: Size, other: Size) -> None:
        """Note that two sizes are equal; a symbol is replaced by the other size."""
        one, other = self.replaced([one, other])
        if one == other or (one.constant is not None and other.constant is not None):
            return
        place = location_of(operation.location)
        pairs = [
            (name, size)
            for symbol, size in ((other, one), (one, other))
            for name in symbol.symbols - size.symbols - self._kept  # arguments have their values
            if symbol == Size.symbol(name)
        ]
        if not pairs:
            self.equalities.append(Equality(one, other, operation.name, place))
            return
        name, size = min(pairs, key=lambda e: (e[0] not in self.scalars, e[0] in self._declared))
        self.equalities.append(Equality(Size.symbol(name), size, operation.name, place))
        new = {name: size}
        self._equal = {key: each.replaced(new) for key, each in self._equal.items()} | new


def _factors(rule: OpShardingRule | None) -> dict[Place, int]:
    """Return the factors of dimensions that have one, along which their sizes are equal."""
    if rule is None:
        return {}
    special = {*rule.need_replication_factors, *rule.permutation_factors}
    return {
        (tensor, dim): each.factor_indices[0]
        for tensor, mapping in enumerate(rule.mappings)
        for dim, each in enumerate(mapping.dim_mappings)
        if len(each.factor_indices) == 1 and each.factor_indices[0] not in special
    }


LARGEST = 2**48
"""The largest size of a dimension."""

_WITHOUT = frozenset({"func.return", "sdy.return", "stablehlo.constant", "stablehlo.return"})
_BRANCHES = frozenset({"stablehlo.case", "stablehlo.if"})
_POINTWISE = frozenset(POINTWISE_OPERATIONS) - {"stablehlo.all_reduce"}

_FIRST_NUMBER = 1 << 24
"""The first number of a dynamic size, while rules are looked up."""

_ALIKE = frozenset(
    f"stablehlo.{name}"
    for name in ("clamp", "concatenate", "dot", "dot_general", "reduce", "select", "sort")
)
"""Operations that demand that dimensions with a factor are equal."""


_ALIKE_RESULTS = (
    *OWN_SHARDING,
    "sdy.propagation_barrier",
    "stablehlo.all_reduce",
    "stablehlo.cholesky",
    "stablehlo.dynamic_update_slice",
    "stablehlo.fft",
    "stablehlo.optimization_barrier",
    "stablehlo.reverse",
    "stablehlo.rng_bit_generator",
    "stablehlo.scatter",
    "stablehlo.select_and_scatter",
    "stablehlo.sort",
)
"""Operations whose results have the sizes of the operands at their positions."""

# --- Operations whose results have sizes that no operand has --------------------------------------

_FIRST_SIZE = {
    **{name: first for name, (_, first, _) in SIZES_OF.items()},
    "stablehlo.dynamic_conv": 2,
    "stablehlo.rng": 2,
}
"""The first operand that determines the type of the result, as do those behind it."""


def shape_operands(operation: ir.Operation) -> Sequence[int]:
    """Return the positions of the operands that determine the types of results."""
    count = len(operation.operands)
    if operation.name != "stablehlo.custom_call":
        return range(_FIRST_SIZE.get(operation.name, count), count)
    if target_of(operation) == DYNAMIC_REDUCE_WINDOW:
        return range(count - 5, count)
    return shape_operands_of(operation)


_Found = Mapping[Place, Size]
_Numbers = Sequence[Number]


def _of_shapes(sizes: SizeMap, operation: ir.Operation) -> _Found:
    """Find the sizes in operands that are the shapes of results."""
    vectors = enumerate(sizes.vectors(operation))
    return {(at, dim): size for at, vector in vectors for dim, size in enumerate(vector or ())}


def _of_broadcast(sizes: SizeMap, operation: ir.Operation) -> _Found:
    """Find the sizes in the operand with them, which those of the value are, unless 1."""
    found = _of_shapes(sizes, operation)
    targets, shape = BroadcastView(operation).broadcast_dimensions, operation.operands[0]
    given = get_discardable(operation, "known_expanding_dimensions")
    expanding = () if given is None else tuple(ir.DenseI64ArrayAttr(given))
    for dim, (target, size) in enumerate(zip(targets, sizes.sizes(shape), strict=True)):
        asked = found.get((0, target), size)
        if asked is not size and size != 1 and dim not in expanding:
            sizes.equate(operation, asked, size)
    return found


def _of_operands(sizes: SizeMap, operation: ir.Operation) -> _Found:
    """Find the sizes of results in the operands at their positions."""
    pairs = enumerate(list(operation.operands)[: len(operation.results)])
    return {(index, dim): n for index, each in pairs for dim, n in enumerate(sizes.sizes(each))}


def _of_collective(sizes: SizeMap, operation: ir.Operation) -> _Found:
    """Find the sizes of dimensions that are gathered, scattered, or exchanged."""
    found = sizes.sizes(operation.operands[0])
    if operation.name == "stablehlo.all_to_all":
        view, result = AllToAllView(operation), list(found)
        result[view.split_dimension] //= view.split_count
        result[view.concat_dimension] *= view.split_count
        return {(0, dim): size for dim, size in enumerate(result)}
    groups = CollectiveView(operation).replica_groups
    if not isinstance(groups, ir.DenseIntElementsAttr):
        return {}
    count = shape_of(groups.type)[1]
    if operation.name == "stablehlo.all_gather":
        dim = AllGatherView(operation).all_gather_dim
        return {(0, dim): found[dim] * count}
    dim = ReduceScatterView(operation).scatter_dimension
    return {(0, dim): found[dim] // count}


def _of_concatenation(sizes: SizeMap, operation: ir.Operation) -> _Found:
    dim = ConcatenateView(operation).dimension
    parts = (sizes.sizes(each)[dim] for each in operation.operands)
    return {(0, dim): sum(parts, start=Size.of(0))}


def _of_pad(sizes: SizeMap, operation: ir.Operation) -> _Found:
    is_static = operation.name == "stablehlo.pad"
    amounts = PadView(operation).amounts if is_static else sizes.vectors(operation)
    shape = sizes.sizes(operation.operands[0])
    return {
        (0, dim): (size - 1) * (inner + 1) + 1 + low + high
        for dim, (size, low, high, inner) in enumerate(_columns(shape, *amounts))
    }


def _of_slice(sizes: SizeMap, operation: ir.Operation) -> _Found:
    return {
        (0, dim): (limit - start + step - 1) // step
        for dim, (start, limit, step) in enumerate(_columns(*sizes.vectors(operation)))
        if _is_distance(step)
    }


def _of_gather(sizes: SizeMap, operation: ir.Operation) -> _Found:
    numbers, (taken,) = GatherView(operation).dimension_numbers, sizes.vectors(operation)
    without = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    kept = [size for dim, size in enumerate(taken or ()) if dim not in without]
    return {(0, dim): size for dim, size in zip(numbers.offset_dims, kept, strict=False)}


def _of_convolution(sizes: SizeMap, operation: ir.Operation) -> _Found:
    view, shape = ConvolutionView(operation), sizes.sizes(operation.operands[0])
    numbers, kernel = view.dimension_numbers, sizes.sizes(operation.operands[1])
    ones = [1] * len(numbers.input_spatial_dimensions)
    if operation.name == "stablehlo.convolution":
        edges = [each for pair in view.padding or [(0, 0)] * len(ones) for each in pair]
    else:
        (edges,) = sizes.vectors(operation)
    counts = _windows(
        [shape[dim] for dim in numbers.input_spatial_dimensions],
        [kernel[dim] for dim in numbers.kernel_spatial_dimensions],
        view.window_strides or ones,
        view.lhs_dilation or ones,
        view.rhs_dilation or ones,
        edges,
    )
    return {(0, dim): n for dim, n in zip(numbers.output_spatial_dimensions, counts, strict=False)}


def _of_windows(sizes: SizeMap, operation: ir.Operation) -> _Found:
    is_static = operation.name == "stablehlo.reduce_window"
    vectors = window_numbers(operation) if is_static else sizes.vectors(operation)
    counts = _windows(sizes.sizes(operation.operands[0]), *vectors)
    results = range(len(operation.results))
    return {(index, dim): size for index in results for dim, size in enumerate(counts)}


def _windows(shape: _Numbers, *vectors: _Numbers | None) -> list[Size]:
    """Return the numbers of windows; none if the distances aren't numbers.

    Args:
        shape: the sizes of dimensions.
        vectors: the sizes of windows, their distances, those of elements, those of elements of a
            window, and the positions before and after each dimension.
    """
    *columns, edges = vectors
    found: list[Size] = []
    for dim, (size, window, *steps) in enumerate(_columns(shape, *columns)):
        if edges is None or not all(map(_is_distance, steps)):
            return []
        stride, dilation, inner = steps
        reach, extent = (window - 1) * inner, (size - 1) * dilation  # from the first to the last
        low, high = edges[2 * dim : 2 * dim + 2]
        found.append((low + extent + high - reach) // stride + 1)
    return found


def _columns(*vectors: _Numbers | None) -> Iterable[Sequence[Any]]:
    """Return the numbers of each dimension; none if a vector isn't known."""
    known = [each for each in vectors if each is not None]
    return zip(*known, strict=True) if len(known) == len(vectors) else ()


def _is_distance(size: Number) -> bool:
    number = number_of(size)
    return isinstance(number, int) and 0 < number < LARGEST


_FUNCTIONS: Mapping[str, Callable[[SizeMap, ir.Operation], _Found]] = {
    DYNAMIC_REDUCE_WINDOW: _of_windows,
    **dict.fromkeys(_ALIKE_RESULTS, _of_operands),
    "stablehlo.all_gather": _of_collective,
    "stablehlo.all_to_all": _of_collective,
    "stablehlo.concatenate": _of_concatenation,
    "stablehlo.convolution": _of_convolution,
    "stablehlo.dynamic_broadcast_in_dim": _of_broadcast,
    "stablehlo.dynamic_conv": _of_convolution,
    "stablehlo.dynamic_gather": _of_gather,
    "stablehlo.dynamic_pad": _of_pad,
    "stablehlo.pad": _of_pad,
    "stablehlo.real_dynamic_slice": _of_slice,
    "stablehlo.reduce_scatter": _of_collective,
    "stablehlo.reduce_window": _of_windows,
}
