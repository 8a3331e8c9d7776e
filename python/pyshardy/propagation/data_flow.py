# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data-flow edges: values that pass unchanged into and out of the regions of operations.

Each edge goes from its sources to its targets, all of which have the same value at some time. The
first target is the *owner* of the edge: an `sdy.data_flow_edge` on it stands for the edge, and
holds the sharding of all targets. Edge k of

- `stablehlo.while` goes from operand k, and what the body returns as k, to result k, and argument k
  of the condition and of the body;
- `stablehlo.case` and `stablehlo.if` go from what each branch returns as k to result k;
- `stablehlo.optimization_barrier` goes from operand k to result k;
- `sdy.manual_computation` and `sdy.named_computation` goes from operand k to argument k; and
  another one from what the body returns as k to result k.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.values import COMPUTATIONS

Use = tuple[int, int]
"""An operation and the position of one of its operands."""


@dataclass(frozen=True, slots=True)
class DataFlowEdge:
    """An edge of a data-flow operation, with or without an operation that stands for it.

    Attributes:
        sources: the uses of the values that flow in.
        owner: the value that an operation for the edge would have as its operand.
        other_targets: the other values that have the edge's sharding.
        wakes: whether the edge's operation is visited again when a source gets a new sharding. As
            in Shardy, it is not for operands of a computation.
    """

    sources: tuple[Use, ...]
    owner: int
    other_targets: tuple[int, ...] = ()
    wakes: bool = True


def data_flow_edges(
    operation: int,
    name: str,
    results: Sequence[int],
    arguments: Sequence[int],
    terminators: Sequence[int],
    num_operands: Mapping[int, int],
) -> Iterator[DataFlowEdge]:
    """Return the edges of a data-flow operation, in the order of their owners.

    Args:
        operation: its number.
        name: its name.
        results: its results.
        arguments: the arguments of its regions, one region after the other.
        terminators: the operations that end its regions, in order.
        num_operands: the number of operands of each terminator.
    """

    def returned(index: int, from_terminators: Sequence[int]) -> tuple[Use, ...]:
        return tuple((at, index) for at in from_terminators if index < num_operands[at])

    if name in COMPUTATIONS:
        for index, argument in enumerate(arguments):
            yield DataFlowEdge(((operation, index),), argument, wakes=False)
        for index, result in enumerate(results):
            yield DataFlowEdge(returned(index, terminators), result)
        return
    count = len(results)
    for index, result in enumerate(results):
        if name == "stablehlo.while":
            sources = ((operation, index), *returned(index, terminators[1:]))
            yield DataFlowEdge(sources, result, tuple(arguments[index::count]))
        elif name in ("stablehlo.case", "stablehlo.if"):
            yield DataFlowEdge(returned(index, terminators), result)
        else:
            yield DataFlowEdge(((operation, index),), result)
