# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data flow through operations with regions, calls and functions, and the shardings there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, complete_shardings, erase_manual_axes
from mlir_sdy.op_classes import view_as
from mlir_sdy.traversal import terminator_of
from mlir_sdy.values import (
    COMPUTATIONS,
    argument_shardings,
    body_argument_shardings,
    manual_axes,
    rank_of,
    result_shardings,
    result_shardings_of,
)
from pyshardy.irtools.stablehlo_views import function_type_of


@dataclass(frozen=True, slots=True)
class Source:
    """An operand whose value flows to another place.

    Attributes:
        operation: the operation that uses the value.
        index: the index of the operand.
        sharding: the sharding at the place where the value flows; None if there is none.
    """

    operation: ir.Operation
    index: int
    sharding: TensorSharding | None


def sources_of(operation: ir.Operation) -> Iterator[Source]:
    """Yield the sources of all data-flow edges of an operation.

    | operation             | sources                                                      |
    |-----------------------|--------------------------------------------------------------|
    | `while`               | its operands, and the values that the body returns           |
    | `case`, `if`          | the values that each branch returns                          |
    | `optimization_barrier`| its operands                                                 |
    | computations          | their operands, and the values that the body returns         |
    """
    name = operation.name
    results = _padded(result_shardings_of(operation), len(operation.results))
    if name in COMPUTATIONS:
        arguments = body_operand_shardings(operation)
        yield from _sources(operation, arguments)
        if name == "sdy.manual_computation":
            manual = manual_axes(operation)
            results = [None if s is None else erase_manual_axes(s, manual) for s in results]
        yield from _sources(_terminator(operation.regions[0]), results)
    elif name == "stablehlo.while":
        yield from _sources(operation, results)
        yield from _sources(_terminator(operation.regions[1]), results)
    elif name == "stablehlo.optimization_barrier":
        yield from _sources(operation, results)
    else:
        for region in operation.regions:
            yield from _sources(_terminator(region), results)


def sources_of_call(
    call: ir.Operation, callee: ir.Operation, meshes: Mapping[str, Mesh]
) -> Iterator[Source]:
    """Yield the operands of a call, with the shardings of the callee's arguments."""
    types = function_type_of(callee).inputs
    inside = complete_shardings(argument_shardings(callee), map(rank_of, types), meshes) or ()
    yield from _sources(call, _padded(inside, len(types)))


def sources_of_function(function: ir.Operation) -> Iterator[Source]:
    """Yield the values that a function returns, with the shardings of its results."""
    if function.regions[0].blocks:
        yield from _sources(_terminator(function.regions[0]), result_shardings(function))


def body_operand_shardings(operation: ir.Operation) -> list[TensorSharding | None]:
    """Return the shardings of the operands of a computation, outside of its body."""
    if operation.name == "sdy.manual_computation":
        shardings = value_of(view_as(sdy.ManualComputationOp, operation).in_shardings).shardings
    else:
        shardings = body_argument_shardings(operation)
    return _padded(shardings, len(operation.operands))


def _sources(operation: ir.Operation, shardings: list[TensorSharding | None]) -> Iterator[Source]:
    for index, sharding in enumerate(shardings):
        yield Source(operation, index, sharding)


def _padded(shardings: tuple[TensorSharding, ...], count: int) -> list[TensorSharding | None]:
    return list(shardings) if shardings else [None] * count


def _terminator(region: ir.Region) -> ir.Operation:
    return terminator_of(region.blocks[0])
