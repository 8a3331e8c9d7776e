# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks of a program for a capacity, which runs all sizes up to it.

The program is static: its types have the capacities of symbols. The values of the symbols are
scalar arguments, behind the others. Each value has a *content*, the sizes that it has for these;
what is beyond is padding, at the end of each dimension, and is never read:

1. Operations that reduce a padded dimension, or clamp indices to one, are fitted by the masks and
   clamps of the partitioner (`partition.padding`), with expressions of the scalars as sizes.
2. Others have a function in `padded_operations`, such as sorts, windows and convolutions.
3. All others are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mlir_sdy.diagnostics import error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import OpShardingRule
from mlir_sdy.uses import place_behind
from mlir_sdy.values import COMPUTATIONS
from pyshardy.dynamic.padded_operations import FUNCTIONS, CapacityError, Contents, Place
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import FunctionView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.record import record_of, rule_on_shards
from pyshardy.partition.padding.indices import clamp_indices
from pyshardy.partition.padding.neutral import mask_operands
from pyshardy.partition.padding.replicated import unpaddable_factors
from pyshardy.partition.types.padding_builder import Content
from pyshardy.pipeline import run_pipeline
from pyshardy.sizes.signature import DynamicSignature, entry_of
from pyshardy.sizes.size import Number, Size, number_of, size_of
from pyshardy.sizes.size_map import SizeMap, shape_operands
from pyshardy.sizes.size_reader import DIMENSION_SIZE
from pyshardy.sizes.static_program import (
    SizeRefinement,
    assertions_in,
    constant_of,
    made_static,
    without_calls,
)
from pyshardy.sizes.symbols import told_values

_HAND_ON = frozenset(
    [f"sdy.{name}" for name in ("propagation_barrier", "reshard", "sharding_constraint")]
    + [f"stablehlo.{name}" for name in ("case", "if", "optimization_barrier", "while")]
)
"""Operations whose results are operands, or values of regions, padding included."""


_IN_BUCKETS = "can't be in a program with 'buckets'"


def capacity_program(
    module: ir.Module,
    signature: DynamicSignature,
    symbols: Collection[str],
    values: Mapping[str, int],
) -> tuple[ir.Module, bool]:
    """Return the program for capacities, which runs smaller sizes.

    Args:
        module: the dynamic program, which isn't changed.
        signature: its arguments.
        symbols: the symbols whose values are arguments behind the others, of type i32.
        values: the capacities of these, and the values of the others.

    Returns:
        The program, and whether it may be invalid for some sizes that it runs.

    Raises:
        CapacityError: the result of an operation depends on padding; the error names it.
        UsageError: the program has no static form.
    """
    static = without_calls(module)
    for call in assertions_in(static):
        call.erase()  # it is about the sizes of inputs
    with static.context, static.operation.location:
        return static, _Masking(static, signature, symbols, values).run()


def check_capacities(
    module: ir.Module,
    signature: DynamicSignature,
    values: Mapping[str, int],
    capacities: Mapping[str, int],
) -> None:
    """Check that no value of a program is larger for given sizes than for capacities.

    Raises:
        CapacityError: one is.
    """
    copy = without_calls(module)
    found, largest = (SizeMap(copy, signature, each) for each in (values, capacities))
    limits = dict(largest.dynamic)
    for value, sizes in found.dynamic:
        pairs = [(n.constant, most.constant) for n, most in zip(sizes, limits[value], strict=True)]
        if any(n is None or most is None or n > most for n, most in pairs):
            shape, other = (f"[{', '.join(map(str, each))}]" for each in (sizes, limits[value]))
            message = f"a value has the shape {shape} for {told_values(values)}, but {other} for"
            message += f" {told_values(capacities)}, which is to run it"
            raise CapacityError(error(message, location_of(value.location)))


class _Masking(Contents):
    def __init__(
        self,
        static: ir.Module,
        signature: DynamicSignature,
        symbols: Collection[str],
        values: Mapping[str, int],
    ):
        others = {name: value for name, value in values.items() if name not in symbols}
        sizes = SizeMap(static, signature, others)
        self._module, self._entry = static, entry_of(static)
        self._types = SizeRefinement(static, values, signature)
        context = FunctionContext.of(self._entry)
        self._rules = context.rules
        super().__init__(symbols, sizes, context.cache)

    def run(self) -> bool:
        named = self._types.sizes.operations
        operations = [self._entry, *(each for each, name in named if name != DIMENSION_SIZE)]
        blocks = [block for each in operations for region in each.regions for block in region]
        arguments = [(each, self._content(each)) for block in blocks for each in block.arguments]
        vectors = list(map(self.sizes.vectors, operations))
        results = [[self._content(each) for each in operation.results] for operation in operations]
        for operation, contents in zip(operations, results, strict=True):
            self._check_known(operation, contents)
        self._fix_operands(operations)
        self._fix_numbers()
        for argument, content in arguments:
            self.keep(argument, content)
        for operation, sizes, found in zip(operations, vectors, results, strict=True):
            self._fit(operation, sizes, found)
        self._types.finish()
        run_pipeline(self._module, "builtin.module(cse)")  # erases what isn't used
        return self.needs_check

    # --- Sizes ----------------------------------------------------------------------------------

    def _content(self, value: ir.Value) -> Content:
        return tuple(map(number_of, self.sizes.sizes(value)))

    def _check_known(self, operation: ir.Operation, contents: Sequence[Content]) -> None:
        """Check that sizes of results are numbers that the program computes, up to the capacities.

        Computations, which have a body for their own sizes, can't have others.
        """
        name = f"'{operation.name}' op"
        if operation.name in COMPUTATIONS:
            values = (*operation.operands, *operation.results)
            if any(isinstance(n, Size) for each in values for n in self._content(each)):
                raise self.error(operation, f"{name} of dynamic sizes {_IN_BUCKETS}")
        for size in (size_of(size) for each in contents for size in each):
            sources = [v for n, v in self.sizes.scalars.items() if n in size.symbols]
            if any(isinstance(each, ir.BlockArgument) or shape_of(each.type) for each in sources):
                problem = f"the sizes of results of {name} aren't known for smaller inputs"
                raise self.error(operation, f"{problem}: it {_IN_BUCKETS}")
            grows = self.grows(size)
            self.needs_check |= grows is None
            if grows is False:
                problem = f"{name} has a result of size {size}, which may grow for smaller inputs"
                raise self.error(operation, f"{problem}: it {_IN_BUCKETS}")

    def _fix_operands(self, operations: Sequence[ir.Operation]) -> None:
        """Give operations the sizes from which their types are computed."""
        for operation in operations:
            for index in shape_operands(operation):
                value = operation.operands[index]
                with ir.InsertionPoint(operation):
                    literal = constant_of(value, self._types.sizes.read(value) or ())
                if literal is not None:
                    operation.operands[index] = literal

    def _fix_numbers(self) -> None:
        """Compute the sizes of tensors from the symbols, which are arguments."""
        block, view = self._entry.regions[0].blocks[0], FunctionView(self._entry)
        integer = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
        numbers = [each for each in self._types.computed(self.sizes) if len(each[1]) == 1]
        if view.arg_attrs:
            view.arg_attrs = [*view.arg_attrs, *[ir.DictAttr.get({})] * len(self.symbols)]
        for name in self.symbols:
            place = ir.Location.name(name, self._entry.location)
            self.scalars_of[name] = block.add_argument(integer, place)
        for name, value in self.sizes.scalars.items():
            elements = [*(self.sizes.read(value) or ())]
            if not isinstance(value, ir.BlockArgument) and Size.symbol(name) in elements:
                with value.location, ir.InsertionPoint.after(value.owner.operation):
                    builder, scalar = StablehloBuilder(), value
                    if shape_of(value.type):
                        at = elements.index(Size.symbol(name))
                        scalar = builder.reshape(builder.slice(value, [at], [at + 1]), [])
                    self.scalars_of[name] = builder.convert(scalar, integer.element_type)
        for value, (size,) in numbers:
            is_source = isinstance(value, ir.BlockArgument) or value.owner.name == DIMENSION_SIZE
            is_known = is_source and size.symbols <= self.scalars_of.keys()
            if is_known or size.constant is not None:
                with place_behind(value), value.location:
                    number = self.builder.number(value.type, size)
                value.replace_all_uses_with(number)

    # --- Operations -----------------------------------------------------------------------------

    def _fit(
        self,
        operation: ir.Operation,
        vectors: Sequence[Sequence[Size] | None],
        contents: Sequence[Content],
    ) -> None:
        """Fit an operation to its padded operands, and keep the contents of its results."""
        operation = made_static(self._module, operation)
        for result, content in zip(operation.results, contents, strict=True):
            self.keep(result, content)
        is_padded = any(value in self.contents for value in operation.operands)
        if not len(operation.results) or operation.name in _HAND_ON or not (vectors or is_padded):
            return
        with operation.location, ir.InsertionPoint(operation):
            fit = FUNCTIONS.get(operation.name)
            fitted = () if fit is None else fit(self, operation, vectors)
            if fitted is None:
                return  # it is replaced
            rule = self._rules.rule(operation)
            rule = None if rule is None else rule_on_shards(operation, rule)
            self._check(operation, rule, fitted)
            if rule is not None:
                mask_operands(operation, rule, self.contents, (), self.builder)
                clamp_indices(operation, self.contents, self.builder)

    def _check(
        self, operation: ir.Operation, rule: OpShardingRule | None, fitted: Collection[Place]
    ) -> None:
        """Check that padded dimensions that aren't fitted have factors of one size."""
        blocked = frozenset[int]()
        factors: Mapping[Place, Sequence[int]] = {}
        if rule is not None:
            find_blocked = record_of(operation.name).blocked_factors
            blocked = unpaddable_factors(operation, rule).union(
                rule.need_replication_factors,
                rule.permutation_factors,
                () if find_blocked is None else find_blocked(operation, rule),
            )
            factors = {
                (index, dim): each.factor_indices
                for index, mapping in enumerate(rule.operand_mappings)
                for dim, each in enumerate(mapping.dim_mappings)
                if (index, dim) not in fitted
            }
        sizes: dict[int, Number] = {}
        for index, value in enumerate(operation.operands):
            for dim in self.dims(value):
                if (index, dim) not in fitted:
                    of_dim = factors.get((index, dim), ())
                    if len(of_dim) != 1 or of_dim[0] in blocked:
                        self.refuse(operation, value, dim)
                    sizes.setdefault(of_dim[0], self.content(value)[dim])
        for (index, dim), of_dim in factors.items():
            value = operation.operands[index]
            size = self.content(value)[dim]
            if len(of_dim) == 1 and sizes.get(of_dim[0], size) != size:
                self.refuse(operation, value, dim)
