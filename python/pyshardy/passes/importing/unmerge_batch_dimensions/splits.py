# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Splits of merged dimensions: which are available, and which are wanted.

A split is the size of the leading part of a dimension, where a reshape merged or splits it: `{8}`
for 48 = 8 x 6, and `{8, 32}` for 64 = 8 x 4 x 2. Each split of one dimension divides the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from mlir_sdy.host import identity, ir
from mlir_sdy.model import Shape
from mlir_sdy.traversal import operations_in
from mlir_sdy.uses import is_used
from pyshardy.irtools.constants import filled, splat_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views.fields import set_fields
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.irtools.walks import operations_named
from pyshardy.passes.importing.unmerge_batch_dimensions.linked_dimensions import (
    Parts,
    SharedDimension,
    has_fixed_dims,
    links_of,
    renumbered,
)

Splits = frozenset[int]
NO_SPLITS: Splits = frozenset()
ALL_SPLITS = None
"""The splits of a dimension along which all values are equal or known: a broadcast or constant."""


@dataclass(frozen=True, slots=True)
class NumberedOperation:
    """An operation of a program, whose values are numbered.

    Attributes:
        operands: the numbers of its operands.
        results: the numbers of its results.
        links: the dimensions that can be split; none for operations that can't be rewritten.
        is_reshape: whether it is a reshape.
        is_constant: whether it is a constant.
    """

    operands: tuple[int, ...]
    results: tuple[int, ...]
    links: tuple[SharedDimension, ...] = ()
    is_reshape: bool = False
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """The splits of the dimensions of a program.

    Attributes:
        of_values: for each value the splits of each of its dimensions.
        of_links: for each step the splits of each of its links.
    """

    of_values: tuple[tuple[Splits, ...], ...]
    of_links: tuple[tuple[Splits, ...], ...]


def plan_splits(shapes: Sequence[Shape | None], steps: Sequence[NumberedOperation]) -> SplitPlan:
    """Return the splits of all dimensions: those that are both available and wanted.

    1. Available are those of dimensions that a reshape merged; through a link those that are
       available in all its operands; and all, if the values are equal along a dimension or
       constant.
    2. Wanted are those at which a reshape splits a dimension again; through a link those that are
       wanted of any of its results; and all, if the operation sums or reduces over the dimension.

    Examples: `(8, 6, 4) -> (48, 4)`, a product with a matrix, and `(48, 5) -> (8, 6, 5)` split 48
      into 8 x 6 everywhere. If the last reshape is `(48, 5) -> (6, 8, 5)`, nothing is split.

    Args:
        shapes: the shapes of values; None if their dimensions can't be split.
        steps: the operations, after those that define their operands.
    """
    available = _available(shapes, steps)
    wanted: list[list[Splits]] = [[NO_SPLITS] * len(shape or ()) for shape in shapes]
    of_links: list[tuple[Splits, ...]] = []
    for step in reversed(steps):
        if step.is_reshape:
            _want_through_reshape(step, shapes, wanted)
        chosen = tuple(_of_link(link, step, available, wanted) for link in step.links)
        for link, splits in zip(step.links, chosen, strict=True):
            for index, dim in link.operands if splits else ():
                wanted[step.operands[index]][dim] |= splits
            for index, dim in link.results:
                wanted[step.results[index]][dim] = splits
        of_links.append(chosen)
    of_values = [
        tuple(_chosen(have, want) for have, want in zip(*sides, strict=True))
        for sides in zip(available, wanted, strict=True)
    ]
    return SplitPlan(tuple(of_values), tuple(reversed(of_links)))


def parts_of(shape: Shape, splits: Sequence[Splits]) -> Parts:
    """Return the sizes of the parts of each dimension.

    Example: `(48, 64)` with the splits `{8}` and `{}` gives `((8, 6), (64,))`.
    """
    return tuple(
        tuple(after // before for before, after in pairwise((1, *sorted(of_dim), size)))
        for size, of_dim in zip(shape, splits, strict=True)
    )


def through_reshape(
    source: Shape, splits: Sequence[Splits | None], target: Shape
) -> tuple[Splits | None, ...]:
    """Return the splits that a reshape gives to the dimensions of its result.

    1. A dimension of the result that has the same elements as one of the operand has its splits.
    2. Others are split where dimensions of the operand, or the parts of those that are split, end.

    Examples: `(8, 6, 4) -> (48, 4)` gives `({8}, {})`, and `(3, 8) -> (12, 2)` gives `({3}, {})`.
    """
    ends: set[int] = set()
    inherited: dict[tuple[int, int], Splits | None] = {}
    for (start, end), of_dim in zip(element_ranges(source), splits, strict=True):
        inherited[start, end] = of_dim
        ends |= {end, *(start * split for split in of_dim or ())}
    return tuple(
        inherited[start, end]
        if (start, end) in inherited
        else frozenset(
            at // start for at in ends if start < at < end and at % start == 0 and end % at == 0
        )
        for start, end in element_ranges(target)
    )


@lru_cache(maxsize=4096)
def element_ranges(shape: Shape) -> tuple[tuple[int, int], ...]:
    """Return for each dimension the number of elements before it and up to its end, from the major.

    Two dimensions of the shapes before and after a reshape with equal ranges are the same.

    Example: `(8, 6, 4)` gives `((1, 8), (8, 48), (48, 192))`.
    """
    ends = [math.prod(shape[:dim]) for dim in range(len(shape) + 1)]
    return tuple(pairwise(ends))


def _available(
    shapes: Sequence[Shape | None], steps: Sequence[NumberedOperation]
) -> list[tuple[Splits | None, ...]]:
    available: list[tuple[Splits | None, ...]] = [
        (NO_SPLITS,) * len(shape or ()) for shape in shapes
    ]
    for step in steps:
        if step.is_constant:
            available[step.results[0]] = (ALL_SPLITS,) * len(available[step.results[0]])
        elif step.is_reshape:
            (operand,), (result,) = step.operands, step.results
            source, target = shapes[operand], shapes[result]
            if source is not None and target is not None:
                available[result] = through_reshape(source, available[operand], target)
        else:
            of_results = {result: list(available[result]) for result in step.results}
            for link in step.links:
                splits = _of_operands(link, step, available)
                for index, dim in link.results:
                    of_results[step.results[index]][dim] = splits
            for result, of_dims in of_results.items():
                available[result] = tuple(of_dims)
    return available


def _of_operands(
    link: SharedDimension, step: NumberedOperation, available: Sequence[Sequence[Splits | None]]
) -> Splits | None:
    """Return the splits that are available in all operands with a dimension."""
    found: Splits | None = ALL_SPLITS
    for index, dim in link.operands:
        splits = available[step.operands[index]][dim]
        if splits is not None:
            found = splits if found is None else found & splits
    return found


def _of_link(
    link: SharedDimension,
    step: NumberedOperation,
    available: Sequence[Sequence[Splits | None]],
    wanted: Sequence[Sequence[Splits]],
) -> Splits:
    """Return the splits of a dimension that operands and results share."""
    have = _of_operands(link, step, available)
    if not link.results:
        return have or NO_SPLITS
    want = NO_SPLITS
    for index, dim in link.results:
        want |= wanted[step.results[index]][dim]
    return _chosen(have, want) if want else NO_SPLITS


def _chosen(available: Splits | None, wanted: Splits) -> Splits:
    """Return the wanted splits that are available, each of which divides the next."""
    if available is not None:
        return available & wanted
    chosen = [1]
    for split in sorted(wanted):
        if split % chosen[-1] == 0:
            chosen.append(split)
    return frozenset(chosen[1:])


def _want_through_reshape(
    step: NumberedOperation, shapes: Sequence[Shape | None], wanted: list[list[Splits]]
) -> None:
    """Add the splits that a reshape wants of its operand."""
    (operand,), (result,) = step.operands, step.results
    source, target = shapes[operand], shapes[result]
    if source is not None and target is not None:
        for dim, splits in enumerate(through_reshape(target, wanted[result], source)):
            wanted[operand][dim] |= splits or NO_SPLITS


# --- Rewriting of a function whose dimensions are split -------------------------------------------


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
