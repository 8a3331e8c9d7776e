# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which functions compute the same, however they are sharded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping

from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.values import manual_axes, result_shardings_of
from pyshardy.irtools.call_graph import CallGraph, callee_of


def body_numbers(graph: CallGraph, names: Iterable[str]) -> dict[str, int]:
    """Numbers for functions, and those that they call: those that compute the same share one.

    1. Two bodies are the same if they have the same operations in the same order, with the same
       operands, types and attributes.
    2. What the dialect says of shardings doesn't count. Of a manual computation its manual axes
       do: its body works on the part that they leave.
    3. The functions that they call compute the same in turn, whatever their names. Where functions
       call each other in a circle, names count.
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
    """Reads what a body consists of, with values and blocks numbered as they are met."""

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
        yield None  # the end, so that what follows isn't taken for a part of this

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
    """The manual axes of a computation, and which of them split what."""
    manual = manual_axes(computation)
    yield frozenset(manual)
    in_shardings = value_of(computation.attributes["in_shardings"]).shardings
    for sharding in (*in_shardings, *result_shardings_of(computation)):
        for dim in sharding.dim_shardings:
            yield tuple(axis for axis in dim.axes if axis.name in manual)
