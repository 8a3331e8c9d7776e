# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of functions, regardless of shardings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.op_classes import view_as
from mlir_sdy.values import manual_axes, result_shardings_of
from pyshardy.irtools.call_graph import CallGraph
from pyshardy.irtools.stablehlo_views import callee_of


def body_numbers(graph: CallGraph, names: Iterable[str]) -> dict[str, int]:
    """Number functions and their callees so that functions with equal bodies have equal numbers.

    1. Two bodies are equal if they have equal operations in the same order, with equal operands,
       types and attributes.
    2. Shardings are ignored, except for the manual axes of manual computations, since these
       determine the local types of the body.
    3. Callees are compared by their bodies in turn, not by names. In recursive functions, names
       are compared.
    """
    wanted: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in wanted and name in graph.functions:
            wanted.add(name)
            waiting += map(callee_of, graph.calls[name])
    numbers: dict[str, int] = {}
    known: dict[Hashable, int] = {}
    for name in graph.post_order:
        if name in wanted:
            body = tuple(_BodyReader(numbers).parts(graph.functions[name]))
            numbers[name] = known.setdefault(body, len(known))
    return numbers


class _BodyReader:
    """Reads the content of a body, with values and blocks numbered in order of appearance."""

    def __init__(self, functions: Mapping[str, int]):
        self._functions = functions
        self._values: dict[ir.Value, int] = {}
        self._blocks: dict[ir.Block, int] = {}

    def parts(self, operation: ir.Operation) -> Iterator[Hashable]:
        for region in operation.regions:
            for block in region.blocks:
                yield self._block(block)
                for argument in block.arguments:
                    yield self._value(argument), argument.type
                for view in block.operations:
                    inner = view.operation
                    yield inner.name, *map(self._value, inner.operands)
                    yield tuple((self._value(result), result.type) for result in inner.results)
                    yield self._attributes(inner)
                    if inner.successors:
                        yield tuple(map(self._block, inner.successors))
                    yield from self.parts(inner)
        yield None  # marks the end of the nested content

    def _value(self, value: ir.Value) -> int:
        return self._values.setdefault(value, len(self._values))

    def _block(self, block: ir.Block) -> int:
        return self._blocks.setdefault(block, len(self._blocks))

    def _attributes(self, operation: ir.Operation) -> Hashable:
        name = operation.name
        if name == "sdy.manual_computation":
            return tuple(_manual_parts(operation))
        if name.startswith("sdy.") and name != "sdy.constant":
            return None
        attributes: dict[str, Hashable] = {
            key: attribute
            for key, attribute in operation.attributes.items()
            if not key.startswith("sdy.")
        }
        if name == "func.call":
            callee = callee_of(operation)
            attributes["callee"] = self._functions.get(callee, callee)
        return tuple(attributes.items())


def _manual_parts(computation: ir.Operation) -> Iterator[Hashable]:
    """Return the manual axes of a computation, and those of each operand and result dimension."""
    manual = manual_axes(computation)
    yield frozenset(manual)
    in_shardings = value_of(view_as(sdy.ManualComputationOp, computation).in_shardings).shardings
    for sharding in (*in_shardings, *result_shardings_of(computation)):
        for dim in sharding.dim_shardings:
            yield tuple(axis for axis in dim.axes if axis.name in manual)
