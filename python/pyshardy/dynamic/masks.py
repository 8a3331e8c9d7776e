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
from dataclasses import dataclass

from mlir_sdy.diagnostics import error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import OpShardingRule
from mlir_sdy.traversal import operations_in, terminator_of
from pyshardy.dynamic.padded_operations import FUNCTIONS, Contents, Fitted, Vectors
from pyshardy.dynamic.valid_sizes import (
    VALID_DIMENSION,
    VALID_SIZES,
    VALID_SYMBOL,
    CapacityError,
    dimension_of,
    name_of,
    separate_sizes,
)
from pyshardy.irtools.functions import returned_values
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import (
    CustomCallView,
    FunctionView,
    function_type_of,
)
from pyshardy.irtools.tensor_types import element_type_of, shape_of
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.record import record_of, rule_on_shards
from pyshardy.partition.padding.indices import clamp_indices
from pyshardy.partition.padding.neutral import mask_operands
from pyshardy.partition.padding.replicated import unpaddable_factors
from pyshardy.partition.types.padding_builder import Content, PaddingBuilder
from pyshardy.pipeline import run_pipeline
from pyshardy.sizes.signature import DynamicSignature, entry_of
from pyshardy.sizes.size import Number, Size, number_of, size_of
from pyshardy.sizes.size_reader import SizeReader
from pyshardy.sizes.static_program import inline_calls, static_program

_HAND_ON = frozenset(
    {
        "sdy.propagation_barrier",
        "sdy.reshard",
        "sdy.sharding_constraint",
        "stablehlo.optimization_barrier",
    }
)
_CREATED = frozenset(
    {"stablehlo.broadcast_in_dim", "stablehlo.constant", "stablehlo.iota", "sdy.constant"}
)
"""Operations whose only vector is the shape of the result."""

_BRANCHES, _WHILE = frozenset({"stablehlo.case", "stablehlo.if"}), "stablehlo.while"


@dataclass(frozen=True, slots=True)
class MaskedResults:
    """The results of a program for a capacity.

    Attributes:
        contents: the shapes without padding; None for one that isn't an expression of the symbols.
        needs_check: whether the program may be invalid for some sizes that it runs.
    """

    contents: tuple[Content | None, ...]
    needs_check: bool


def capacity_program(
    module: ir.Module,
    signature: DynamicSignature,
    symbols: Collection[str],
    values: Mapping[str, int],
) -> tuple[ir.Module, MaskedResults]:
    """Return the program for capacities, which runs smaller sizes, and what it returns.

    Args:
        module: the dynamic program, which isn't changed.
        signature: its arguments.
        symbols: the symbols whose values are arguments of the program, behind the others.
        values: the capacities of these, and the values of the others.

    Raises:
        CapacityError: the result of an operation depends on padding; the error names it.
        UsageError: the program has no static form.
    """
    separated = copy_of(module)
    inline_calls(separated)
    separate_sizes(separated, symbols, signature)
    static = static_program(separated, values, signature)
    run_pipeline(static, "builtin.module(cse)")
    return static, mask_padding(static, signature, symbols, values)


def mask_padding(
    static: ir.Module,
    signature: DynamicSignature,
    symbols: Collection[str],
    values: Mapping[str, int],
) -> MaskedResults:
    """Let a program for capacities run smaller sizes, in place.

    It gets an argument of type i32 for each of the symbols, in order.

    Args:
        static: the static program that `separate_sizes` has prepared.
        signature: the arguments of the dynamic program.
        symbols: the symbols whose values are arguments.
        values: the values of the others.

    Raises:
        CapacityError: the result of an operation depends on padding; the error names it.
    """
    with static.context, static.operation.location:
        return _Masking(static, signature, symbols, values).run()


class _Masking:
    def __init__(
        self,
        static: ir.Module,
        signature: DynamicSignature,
        symbols: Collection[str],
        values: Mapping[str, int],
    ):
        self._entry = entry_of(static)
        context = FunctionContext.of(self._entry)
        self._rules = context.rules
        self._own = symbols
        self._arguments = self._add_arguments()
        self._scalars: dict[str, ir.Value] = dict(self._arguments)
        self._padded = Contents(symbols, PaddingBuilder(context.cache, self._scalars))
        self._reader = SizeReader(self._source)
        others = {name: Size.of(value) for name, value in values.items() if name not in symbols}
        block = self._entry.regions[0].blocks[0]
        for argument, sized in zip(block.arguments, signature.arguments, strict=False):
            self._padded.keep(argument, [number_of(size.replaced(others)) for size in sized.sizes])
        self._given: dict[ir.Value, tuple[str, list[ir.Value]]] = {}
        self._replaced: list[tuple[ir.Operation, ir.Value]] = []

    def run(self) -> MaskedResults:
        for operation in [each.operation for each in operations_in(self._entry)]:
            if _target_of(operation) == VALID_SIZES:
                result, *sizes = operation.operands
                self._given[result] = name_of(operation), sizes
                operation.erase()
        self._visit_block(self._entry.regions[0].blocks[0])
        for operation, value in self._replaced:
            operation.results[0].replace_all_uses_with(value)
            operation.erase()
        contents: list[Content | None] = []
        for value in returned_values(self._entry) or []:
            content = self._padded.content(value)
            is_known = all(size_of(size).symbols <= {*self._own} for size in content)
            contents.append(content if is_known else None)
        return MaskedResults(tuple(contents), self._padded.needs_check)

    def _source(self, value: ir.Value) -> Sequence[Size] | None:
        """Return the size that a call stands for."""
        if isinstance(value, ir.BlockArgument):
            return None
        operation = value.owner.operation
        target = _target_of(operation)
        if target == VALID_SYMBOL:
            return [Size.symbol(name_of(operation))]
        if target == VALID_DIMENSION:
            content = self._padded.content(operation.operands[0])
            return [size_of(content[dimension_of(operation)])]
        return None

    def _add_arguments(self) -> dict[str, ir.Value]:
        view, block = FunctionView(self._entry), self._entry.regions[0].blocks[0]
        types, attributes = function_type_of(self._entry), list(view.arg_attrs or ())
        integer = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
        count = len(self._own)
        view.function_type = ir.FunctionType.get([*types.inputs, *[integer] * count], types.results)
        if attributes:
            view.arg_attrs = [*attributes, *[ir.DictAttr.get({})] * count]
        return {
            name: block.add_argument(integer, ir.Location.name(name, self._entry.location))
            for name in self._own
        }

    # --- Walk -----------------------------------------------------------------------------------

    def _visit_block(self, block: ir.Block) -> None:
        for operation in [each.operation for each in block.operations]:
            with operation.location, ir.InsertionPoint(operation):
                self._visit(operation)

    def _visit(self, operation: ir.Operation) -> None:
        name, target = operation.name, _target_of(operation)
        if target == VALID_SYMBOL:
            symbol = name_of(operation)
            element = element_type_of(operation.results[0].type)
            value = StablehloBuilder().convert(self._arguments[symbol], element)
            self._replaced.append((operation, value))
        elif target == VALID_DIMENSION:
            dim = dimension_of(operation)
            size = self._padded.content(operation.operands[0])[dim]
            value = self._padded.builder.number(operation.results[0].type, size)
            self._replaced.append((operation, value))
        elif name == _WHILE:
            self._visit_while(operation)
        elif name in _BRANCHES:
            for region in operation.regions:
                self._visit_block(region.blocks[0])
            first, *others = (_yielded(region) for region in operation.regions)
            for other in others:
                self._check_same(operation, first, other)
            for result, value in zip(operation.results, first, strict=True):
                self._padded.keep(result, self._padded.content(value))
        elif name in _HAND_ON:
            for result, value in zip(operation.results, operation.operands, strict=True):
                self._padded.keep(result, self._padded.content(value))
        elif len(operation.results):
            self._fit(operation)

    def _visit_while(self, operation: ir.Operation) -> None:
        initial = list(operation.operands)
        for region in operation.regions:
            for argument, value in zip(region.blocks[0].arguments, initial, strict=True):
                self._padded.keep(argument, self._padded.content(value))
            self._visit_block(region.blocks[0])
        self._check_same(operation, initial, _yielded(operation.regions[1]))
        for result, value in zip(operation.results, initial, strict=True):
            self._padded.keep(result, self._padded.content(value))

    def _check_same(
        self, operation: ir.Operation, values: Sequence[ir.Value], others: Sequence[ir.Value]
    ) -> None:
        for value, other in zip(values, others, strict=True):
            if isinstance(value.type, ir.RankedTensorType):
                sizes = zip(self._padded.content(value), self._padded.content(other), strict=True)
                for dim, (size, found) in enumerate(sizes):
                    if size != found:
                        self._padded.refuse(operation, value, dim)

    def _fit(self, operation: ir.Operation) -> None:
        """Fit an operation to its padded operands, and keep the contents of its results."""
        operands, results = list(operation.operands), list(operation.results)
        vectors = self._vectors_of(operation)
        if not vectors and not any(value in self._padded.contents for value in operands):
            return
        fit = FUNCTIONS.get(operation.name)
        fitted = Fitted() if fit is None else fit(self._padded, operation, vectors)
        if fitted is None:
            return  # it is replaced
        rule = self._rules.rule(operation)
        rule = None if rule is None else rule_on_shards(operation, rule)
        sizes = self._sizes_of_factors(operation, rule, operands, fitted)
        created = vectors[0] if vectors and operation.name in _CREATED else None
        for index, result in enumerate(results):
            content: list[Number] = list(shape_of(result.type))
            for dim in range(len(content)):
                factors = () if rule is None else _factors(rule, len(operands) + index, dim)
                if (index, dim) in fitted.results:
                    content[dim] = fitted.results[index, dim]
                elif len(factors) == 1 and factors[0] in sizes:
                    content[dim] = sizes[factors[0]]
                elif created is not None:
                    content[dim] = number_of(created[dim])
            self._padded.keep(result, content)
        if rule is not None:
            mask_operands(operation, rule, self._padded.contents, (), self._padded.builder)
            clamp_indices(operation, self._padded.contents, self._padded.builder)

    def _vectors_of(self, operation: ir.Operation) -> Vectors:
        """Return the sizes in operands that refinement has made attributes."""
        name, vectors = self._given.get(operation.results[0], ("", []))
        if operation.name != name and (operation.name not in _CREATED or name not in _CREATED):
            return []  # refinement has removed an operation that does nothing
        found = [self._reader.read(each) for each in vectors]
        self._scalars.update(self._reader.scalars)
        if found == [None] and name in _CREATED:
            message = f"the sizes of the result of '{name}' op aren't known for smaller inputs; "
            message += self._padded.advice
            raise CapacityError(error(message, location_of(operation.location)))
        return found

    def _sizes_of_factors(
        self,
        operation: ir.Operation,
        rule: OpShardingRule | None,
        operands: Sequence[ir.Value],
        fitted: Fitted,
    ) -> dict[int, Number]:
        """Return the sizes of the factors of padded dimensions.

        Raises:
            CapacityError: one can't be padded.
        """
        sizes: dict[int, Number] = {}
        blocked: frozenset[int] = frozenset()
        if rule is not None:
            blocked = frozenset(rule.need_replication_factors) | {*rule.permutation_factors}
            blocked |= unpaddable_factors(operation, rule)
            find_blocked = record_of(operation.name).blocked_factors
            blocked |= frozenset(find_blocked(operation, rule) if find_blocked is not None else ())
        for index, value in enumerate(operands):
            for dim in self._padded.dims(value):
                if (index, dim) in fitted.operands:
                    continue
                factors = () if rule is None else _factors(rule, index, dim)
                if len(factors) != 1 or factors[0] in blocked:
                    self._padded.refuse(operation, value, dim)
                size = self._padded.content(value)[dim]
                if sizes.setdefault(factors[0], size) != size:
                    self._padded.refuse(operation, value, dim)
        for index, value in enumerate(operands if sizes else ()):
            for dim, size in enumerate(self._padded.content(value)):
                factors = () if rule is None else _factors(rule, index, dim)
                is_other = len(factors) == 1 and sizes.get(factors[0], size) != size
                if is_other and (index, dim) not in fitted.operands:
                    self._padded.refuse(operation, value, dim)
        return sizes


def _factors(rule: OpShardingRule, tensor: int, dim: int) -> Sequence[int]:
    return rule.mappings[tensor].dim_mappings[dim].factor_indices


def _target_of(operation: ir.Operation) -> str | None:
    is_call = operation.name == "stablehlo.custom_call"
    return CustomCallView(operation).call_target_name if is_call else None


def _yielded(region: ir.Region) -> list[ir.Value]:
    return list(terminator_of(region.blocks[0]).operands)
