# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The data-flow edges of an operation, whose shardings are moved to the operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.values import (
    COMPUTATIONS,
    edge_operation,
    rank_of,
    result_shardings_of,
    set_body_argument_shardings,
    set_result_shardings_of,
)

_Write = Callable[[ir.Operation, Mapping[int, TensorSharding], AttributeCache], None]


@dataclass(frozen=True, slots=True)
class EdgeGroup:
    """Owners of data-flow edges whose shardings form one list.

    Attributes:
        operation: the operation with the list.
        owners: the arguments of its body, or its results.
        write: writes shardings to the list, by index.
        edges: the edge operations of the owners; None for an owner without an edge.
    """

    operation: ir.Operation
    owners: Sequence[ir.Value]
    write: _Write
    edges: Sequence[ir.Operation | None]

    def sink_shardings(self, cache: AttributeCache) -> None:
        """Set the shardings of the owners to those of their edges.

        1. If no edge has a sharding, nothing happens.
        2. Otherwise each owner gets the sharding of its edge or, if that has none, a fully open
           one on the mesh of the first edge with a sharding.

        Results with edges without a sharding and with `<@mesh, [{"x"}]>` get
        `[<@mesh, [{?}]>, <@mesh, [{"x"}]>]`.
        """
        shardings = [_sharding(edge) for edge in self.edges]
        mesh = next((given.mesh_or_ref for given in shardings if given is not None), None)
        if mesh is None:
            return
        complete = {
            index: given or TensorSharding.fully_open(rank_of(owner.type), mesh)
            for index, (owner, given) in enumerate(zip(self.owners, shardings, strict=True))
        }
        self.write(self.operation, complete, cache)


def argument_edges(operation: ir.Operation) -> EdgeGroup:
    """Return the edges on the arguments of the body, which only computations have."""
    arguments: Sequence[ir.Value] = ()
    if operation.name in COMPUTATIONS:
        arguments = list(operation.regions[0].blocks[0].arguments)
    return _group(operation, arguments, set_body_argument_shardings)


def result_edges(operation: ir.Operation) -> EdgeGroup:
    """Return the edges on the results."""
    return _group(operation, list(operation.results), set_result_shardings_of)


def remove_edge(edge: ir.Operation) -> None:
    """Replace `edge` by its input."""
    edge.results[0].replace_all_uses_with(edge.operands[0])
    edge.erase()


def _group(operation: ir.Operation, owners: Sequence[ir.Value], write: _Write) -> EdgeGroup:
    return EdgeGroup(operation, owners, write, [edge_operation(owner) for owner in owners])


def _sharding(edge: ir.Operation | None) -> TensorSharding | None:
    if edge is None:
        return None
    return next(iter(result_shardings_of(edge)), None)
