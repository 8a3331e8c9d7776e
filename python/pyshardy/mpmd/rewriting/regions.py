# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with a body: fewer operands and results, inlining, several copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.attributes import attribute_of, value_of
from mlir_sdy.host import ir
from mlir_sdy.model.sharding import TensorShardingPerValue
from mlir_sdy.mpmd.building import attributes_of, create, local_type, replaced
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import (
    ARGUMENT_ATTRIBUTES,
    NAMED_COMPUTATION,
    RESULT_ATTRIBUTES,
    body_of,
    operations_of,
    producer,
    returned_values,
)
from mlir_sdy.uses import is_used, replace_by
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import set_returned

_BARRIER = "stablehlo.optimization_barrier"


def with_values(
    operation: ir.Operation, operands: Sequence[int], results: Sequence[int]
) -> ir.Operation:
    """Replace an operation by a copy with some of its operands and results, and return that.

    Arguments of the body without an operand must be unused, as must be results that are dropped.

    Args:
        operation: the operation, whose body has an argument for each operand.
        operands: the indices of the operands, ascending.
        results: the indices of the results, ascending.
    """
    if len(operands) == len(operation.operands) and len(results) == len(operation.results):
        return operation
    body = body_of(operation)
    returned = returned_values(operation)
    set_returned(operation, [returned[index] for index in results])
    kept = set(operands)
    for index in reversed(range(len(operation.operands))):
        if index not in kept:
            body.erase_argument(index)
    built = replaced(
        operation,
        [operation.results[index].type for index in results],
        [operation.operands[index] for index in operands],
        _attributes_of_values(operation, operands, results),
    )
    for new, index in enumerate(results):
        operation.results[index].replace_all_uses_with(built.results[new])
    operation.erase()
    return built


def _attributes_of_values(
    operation: ir.Operation, operands: Sequence[int], results: Sequence[int]
) -> dict[str, ir.Attribute]:
    """Return the attributes of an operation with the entries for some operands and results."""
    attributes = attributes_of(operation)
    for name, kept in (
        (ARGUMENT_ATTRIBUTES, operands),
        ("in_shardings", operands),
        (RESULT_ATTRIBUTES, results),
        ("out_shardings", results),
    ):
        listed = attributes.get(name)
        if isinstance(listed, ir.ArrayAttr):
            entries = [listed[index] for index in kept]
            attributes[name] = ir.ArrayAttr.get(entries, operation.context)
        elif listed is not None:
            shardings = value_of(listed).shardings
            fewer = TensorShardingPerValue(tuple(shardings[index] for index in kept))
            attributes[name] = attribute_of(fewer, operation.context)
    return attributes


def with_results(
    operation: ir.Operation, values: Sequence[ir.Value], types: Sequence[ir.Type]
) -> ir.Operation:
    """Replace an operation by a copy that returns further values of its body, and return that."""
    set_returned(operation, [*returned_values(operation), *values])
    old = [result.type for result in operation.results]
    built = replaced(operation, [*old, *types], list(operation.operands))
    replace_by(operation, *list(built.results)[: len(old)])
    return built


def drop_unused(operation: ir.Operation) -> ir.Operation:
    """Remove unused results of an operation, and operands whose arguments are unused."""
    return drop_unused_operands(drop_unused_results(operation))


def drop_unused_operands(operation: ir.Operation) -> ir.Operation:
    """Remove operands of an operation whose arguments are unused."""
    arguments = body_of(operation).arguments
    operands = [index for index, each in enumerate(arguments) if is_used(each)]
    return with_values(operation, operands, range(len(operation.results)))


def merge_equal_results(operation: ir.Operation) -> None:
    """Replace results that equal an earlier result by it."""
    first: dict[ir.Value, int] = {}
    for index, value in enumerate(returned_values(operation)):
        earlier = first.setdefault(value, index)
        if earlier != index and operation.results[earlier].type == operation.results[index].type:
            operation.results[index].replace_all_uses_with(operation.results[earlier])


def merge_equal_operands(operation: ir.Operation) -> None:
    """Replace each argument of the body whose operand is an earlier operand, too."""
    first: dict[ir.Value, int] = {}
    arguments = body_of(operation).arguments
    for index, value in enumerate(operation.operands):
        earlier = first.setdefault(value, index)
        if earlier != index:
            arguments[index].replace_all_uses_with(arguments[earlier])


def negligible_producer(value: ir.Value) -> ir.Operation | None:
    """Return the operation without operands and with one result that defines a value, if any."""
    if isinstance(value, ir.BlockArgument):
        return None
    operation = value.owner.operation
    is_negligible = not len(operation.operands) and len(operation.results) == 1
    return operation if is_negligible and not len(operation.regions) else None


def with_call_values(
    call: ir.Operation, operands: Sequence[ir.Value], results: Sequence[int]
) -> ir.Operation:
    """Replace a call by a copy with the given operands and some of the results."""
    with ir.InsertionPoint(call), call.location:
        types = [call.results[index].type for index in results]
        built = create(call.name, types, operands, attributes_of(call))
    for new, index in enumerate(results):
        call.results[index].replace_all_uses_with(built.results[new])
    call.erase()
    return built


@dataclass
class NewArguments:
    """The arguments of a body whose operands have changed.

    Attributes:
        body: the body.
        new: the arguments of the added operands.
        dropped: the arguments without an operand; `erase_dropped` removes them.
    """

    body: ir.Block
    new: list[ir.BlockArgument]
    dropped: list[ir.BlockArgument]

    def erase_dropped(self) -> None:
        """Erase the arguments without an operand, which must be unused."""
        for index in sorted((each.arg_number for each in self.dropped), reverse=True):
            self.body.erase_argument(index)


def add_operands(
    fragment: ir.Operation,
    kept: Sequence[ir.Value],
    added: Sequence[ir.Value],
    dropped: Sequence[int],
) -> tuple[ir.Operation, NewArguments]:
    """Replace a fragment by a copy with other operands.

    Args:
        fragment: the fragment.
        kept: the operands that stay.
        added: the operands that are added after them.
        dropped: the indices of the other operands, whose arguments are still in the body.

    Returns:
        The copy, and its new and dropped arguments.
    """
    built = replaced(fragment, [result.type for result in fragment.results], [*kept, *added])
    body = body_of(built)
    with fragment.location:
        new = [body.add_argument(local_type(each.type), fragment.location) for each in added]
    arguments = NewArguments(body, new, [body.arguments[index] for index in dropped])
    replace_by(fragment, *built.results)
    return built, arguments


def drop_unused_results(operation: ir.Operation) -> ir.Operation:
    """Remove unused results of an operation."""
    return _with_results(operation, list(map(is_used, operation.results)))


def _with_results(operation: ir.Operation, kept: Sequence[bool]) -> ir.Operation:
    results = [index for index, each in enumerate(kept) if each]
    return with_values(operation, range(len(operation.operands)), results)


def erase_dead(block: ir.Block) -> None:
    """Erase unused operations without effects, the last one first, also in nested regions."""
    for operation in reversed(operations_of(block)[:-1]):
        if not any(map(is_used, operation.results)) and not has_effects(operation):
            operation.erase()
            continue
        for region in operation.regions:
            for inner in region.blocks:
                erase_dead(inner)


def simplify_operations(function: ir.Operation, name: str) -> None:
    """Simplify the named computations or fragments of a function until nothing changes.

    Equal results, and equal operands, are merged. A result that is an argument of the body is
    replaced by the operand, if their types are equal; one of a named computation also through an
    `optimization_barrier`. Unused results and operands are dropped, and dead operations erased. A
    result of a custom call, or of another operation with effects, stays, as in C++ Shardy.

    Args:
        function: the function.
        name: the name of the operations.
    """
    before = None
    while (size := _size(function, name)) != before:
        before = size
        erase_dead(body_of(function))
        for operation in reversed(operations_named({name}, function)):
            merge_equal_results(operation)
            merge_equal_operands(operation)
            _forward_operands(operation)
            inner = zip(operation.results, returned_values(operation), strict=True)
            kept = [is_used(result) or _may_have_effects(value) for result, value in inner]
            drop_unused_operands(_with_results(operation, kept))


def _may_have_effects(value: ir.Value) -> bool:
    """Whether the operation that makes a value is a custom call, or has effects."""
    if isinstance(value, ir.BlockArgument):
        return False
    operation = value.owner.operation
    return operation.name == "stablehlo.custom_call" or has_effects(operation)


def _size(function: ir.Operation, name: str) -> list[tuple[int, int]]:
    operations = operations_named({name}, function)
    return [(len(each.operands), len(each.results)) for each in operations]


def _forward_operands(operation: ir.Operation) -> None:
    body = body_of(operation)
    is_named = operation.name == NAMED_COMPUTATION
    for result, value in zip(operation.results, returned_values(operation), strict=True):
        while is_named and (barrier := producer(value, _BARRIER)) is not None:
            value = barrier.operands[ir.OpResult(value).result_number]  # noqa: PLW2901
        if not isinstance(value, ir.BlockArgument) or value.owner != body or not is_used(result):
            continue
        operand = operation.operands[value.arg_number]
        if operand.type == result.type:
            result.replace_all_uses_with(operand)


def call_attributes(call: ir.Operation) -> dict[str, ir.Attribute]:
    """Return the attributes of a call that its operations inherit."""
    return {name: each for name, each in attributes_of(call).items() if name != "callee"}


def replace_inside(root: ir.Operation, value: ir.Value, by: ir.Value) -> None:
    """Replace a value by another value in an operation and its regions."""

    def replace(view: ir.Operation | ir.OpView) -> ir.WalkResult:
        view.operation.replace_uses_of_with(value, by)
        return ir.WalkResult.ADVANCE

    root.walk(replace)
