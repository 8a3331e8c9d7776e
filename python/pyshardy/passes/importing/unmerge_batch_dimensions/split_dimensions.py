# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewriting of a function whose dimensions are split as planned; see `splits`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from mlir_sdy.fold.pattern import is_used
from mlir_sdy.host import identity, ir
from mlir_sdy.model import Shape
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.constants import filled, splat_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import set_fields
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.irtools.walks import operations_named
from pyshardy.passes.importing.unmerge_batch_dimensions.linked_dimensions import (
    Parts,
    has_fixed_dims,
    links_of,
    renumbered,
)
from pyshardy.passes.importing.unmerge_batch_dimensions.splits import (
    NumberedOperation,
    SplitPlan,
    Splits,
    parts_of,
    plan_splits,
)

_RESHAPE = "stablehlo.reshape"
_CONSTANT = "stablehlo.constant"


def split_merged_dimensions(function: ir.Operation) -> None:
    """Split the dimensions of a function that reshapes merge and split again.

    Operations that compute with them are changed in place. A value that is also used merged is
    merged after its definition, so that no computation is repeated.
    """
    if not _may_have_merged_dims(function):
        return
    program = _Program(function)
    _Rewriter(program, plan_splits(program.shapes, program.steps)).rewrite()


def _may_have_merged_dims(function: ir.Operation) -> bool:
    """Whether a function has a reshape that removes dimensions."""
    return any(
        len(shape_of(reshape.results[0].type)) < len(shape_of(reshape.operands[0].type))
        for reshape in operations_named({_RESHAPE}, function)
    )


class _Program:
    """The operations in a function, with their values numbered.

    Attributes:
        operations: the operations.
        steps: an analysis step for each.
        shapes: the shapes of values; None if they can't be split.
    """

    def __init__(self, function: ir.Operation):
        self.operations: list[ir.Operation] = []
        self.steps: list[NumberedOperation] = []
        self.shapes: list[Shape | None] = []
        self._numbers: dict[ir.Value, int] = {}
        self._shapes: dict[int, Shape | None] = {}  # by the identity of types
        for view in operations_in(function):
            if view.operation != function:
                self.operations.append(view.operation)
                self.steps.append(self._step(view.operation))

    def _step(self, operation: ir.Operation) -> NumberedOperation:
        operands = tuple(map(self._number, operation.operands))
        results = tuple(map(self._number, operation.results))
        values = (*operands, *results)
        if any(self.shapes[value] is None for value in values) or has_fixed_dims(operation):
            return NumberedOperation(operands, results)
        if operation.name == _RESHAPE:
            return NumberedOperation(operands, results, is_reshape=True)
        if operation.name == _CONSTANT:
            return NumberedOperation(operands, results, is_constant=True)
        return NumberedOperation(operands, results, links_of(operation))

    def _number(self, value: ir.Value) -> int:
        number = self._numbers.setdefault(value, len(self.shapes))
        if number == len(self.shapes):
            kind = value.type
            key = identity(kind)
            if key not in self._shapes:
                self._shapes[key] = _splittable_shape(kind)
            self.shapes.append(self._shapes[key])
        return number


def _splittable_shape(value_type: ir.Type) -> Shape | None:
    """Return the shape of a static tensor of numbers that has elements, else None."""
    if not isinstance(value_type, ir.RankedTensorType) or not value_type.has_static_shape:
        return None
    is_number = isinstance(
        value_type.element_type, ir.IntegerType | ir.FloatType | ir.ComplexType | ir.IndexType
    )
    shape = tuple(value_type.shape)
    is_plain = is_number and value_type.encoding is None and math.prod(shape) > 0
    return shape if is_plain else None


class _Rewriter:
    """Rewrites a program by a plan.

    Args:
        program: the program.
        plan: the splits of its dimensions.
    """

    def __init__(self, program: _Program, plan: SplitPlan):
        self._program = program
        self._plan = plan
        self._builder = StablehloBuilder()
        self._split: dict[int, ir.Value] = {}
        self._replaced: list[ir.Operation] = []

    def rewrite(self) -> None:
        """Rewrite all operations, and erase those that became unused."""
        for index, (operation, step) in enumerate(
            zip(self._program.operations, self._program.steps, strict=True)
        ):
            with operation.location:
                if step.is_constant:
                    self._replaced.append(operation)
                elif step.is_reshape:
                    self._rewrite_reshape(operation, step)
                elif any(self._plan.of_links[index]):
                    self._rewrite_linked(operation, step, self._plan.of_links[index])
        for operation in reversed(self._replaced):
            if not is_used(operation.results[0]):
                operation.erase()

    def _rewrite_reshape(self, operation: ir.Operation, step: NumberedOperation) -> None:
        (operand,), (result,) = step.operands, step.results
        of_result = self._plan.of_values[result]
        if operand not in self._split and not any(of_result):
            return
        with ir.InsertionPoint(operation):
            source = self._split.get(operand, operation.operands[0])
            new = self._reshaped(source, parts_of(self._shape(result), of_result))
        if any(of_result):
            self._split[result] = new
            operation.operands[0] = new  # for the uses that aren't rewritten
        else:
            operation.results[0].replace_all_uses_with(new)
        self._replaced.append(operation)

    def _rewrite_linked(
        self, operation: ir.Operation, step: NumberedOperation, of_links: Sequence[Splits]
    ) -> None:
        operands, results = self._parts(step, of_links)
        # A value that is the same along its split dimensions costs nothing to build twice.
        copies = not any(
            link.operands for link, splits in zip(step.links, of_links, strict=True) if splits
        )
        if copies:
            self._replaced.append(operation)
            operation = operation.clone(ir.InsertionPoint(operation)).operation
        with ir.InsertionPoint(operation):
            new = [
                self._reshaped(self._split.get(number, value), parts)
                for number, value, parts in zip(
                    step.operands, operation.operands, operands, strict=True
                )
            ]
        set_fields(operation, renumbered(operation, operands, results))
        for index, value in enumerate(new):
            operation.operands[index] = value
        for number, value, parts in zip(step.results, operation.results, results, strict=True):
            if all(len(sizes) == 1 for sizes in parts):
                continue
            old_type = value.type
            value.set_type(with_shape(old_type, _flat(parts)))
            self._split[number] = value
            if not copies:
                self._merge_after(operation, value, shape_of(old_type))

    def _merge_after(self, operation: ir.Operation, value: ir.Value, shape: Shape) -> None:
        """Merge a split value for the uses that aren't rewritten."""
        with ir.InsertionPoint.after(operation):
            merged = self._builder.reshape(value, shape)
        reshape = merged.owner.operation
        value.replace_all_uses_except(merged, reshape)
        self._replaced.append(reshape)

    def _parts(
        self, step: NumberedOperation, of_links: Sequence[Splits]
    ) -> tuple[list[Parts], list[Parts]]:
        """Return how the operands and results of an operation are split."""
        splits = [
            [[frozenset[int]()] * len(self._shape(value)) for value in values]
            for values in (step.operands, step.results)
        ]
        for link, of_link in zip(step.links, of_links, strict=True):
            for side, places in zip(splits, (link.operands, link.results), strict=True):
                for index, dim in places:
                    side[index][dim] = of_link
        operands, results = (
            [parts_of(self._shape(value), each) for value, each in zip(values, side, strict=True)]
            for values, side in zip((step.operands, step.results), splits, strict=True)
        )
        return operands, results

    def _shape(self, value: int) -> Shape:
        return self._program.shapes[value] or ()

    def _reshaped(self, value: ir.Value, parts: Parts) -> ir.Value:
        """Return a value in the shape of its parts."""
        shape = _flat(parts)
        if shape_of(value.type) == shape:
            return value
        constant = splat_of(value)
        if constant is None:
            return self._builder.reshape(value, shape)
        return self._builder.literal(filled(with_shape(value.type, shape), constant))


def _flat(parts: Iterable[Iterable[int]]) -> Shape:
    return tuple(size for sizes in parts for size in sizes)
