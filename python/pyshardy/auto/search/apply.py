# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing a choice of shardings, and of the axes of operations, into a program as attributes.

All shardings are closed, so that propagation keeps them. Scalars and values that each device
computes for itself, such as constants, get none. Operations on a single device stay there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import DimensionSharding, TensorSharding, TensorShardingPerValue
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.values import (
    COMPUTATIONS,
    edge_owner,
    rank_of,
    set_argument_shardings,
    set_result_shardings,
    set_result_shardings_of,
)
from pyshardy.auto.problem.arrays import Ints
from pyshardy.auto.search.build import Built
from pyshardy.auto.strategies.alternatives import Alternatives, AlternativesOf
from pyshardy.irtools.functions import entry_block, functions_of, main_function
from pyshardy.irtools.modules import copy_of
from pyshardy.partition.partial.planned_partial import set_planned_partial
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.planned_axes import set_planned_axes
from pyshardy.partition.types.single_device import single_device_sharding
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.pipeline import run_pipeline

_WITHOUT_FACTORS = frozenset(
    {
        "func.call",
        "sdy.manual_computation",
        "sdy.named_computation",
        "stablehlo.case",
        "stablehlo.if",
        "stablehlo.optimization_barrier",
        "stablehlo.while",
    }
)


def values_of(module: ir.Module) -> Iterator[ir.Value]:
    """Yield the values of a program in its order, without those of scalar bodies.

    Copies of a program have equal values at equal places.
    """
    for operation, _ in named_operations_in(module, leaving_out=SCALAR_BODIES):
        yield from operation.results
        if operation.name in SCALAR_BODIES:
            continue
        for region in operation.regions:
            for block in region.blocks:
                yield from block.arguments


def closed(axes: AxesPerDim, mesh: str) -> TensorSharding:
    """Return the closed sharding with the axes of each dimension."""
    return TensorSharding(mesh, tuple(DimensionSharding(each, is_closed=True) for each in axes))


def annotate(
    module: ir.Module,
    values: Mapping[ir.Value, AxesPerDim],
    results: Mapping[int, AxesPerDim],
    mesh: str,
) -> None:
    """Write shardings into a program.

    Args:
        module: the program, which is changed.
        values: the axes of each dimension of values of the program.
        results: those of results of `@main`.
        mesh: the name of the mesh.
    """
    cache, meshes = AttributeCache(module.context), meshes_of(module)
    for function in functions_of(module):
        block = entry_block(function)
        if block is not None:
            found = {
                argument.arg_number: closed(values[argument], mesh)
                for argument in block.arguments
                if argument in values
            }
            if found:
                set_argument_shardings(function, found, cache)
    for operation, name in named_operations_in(module, leaving_out=SCALAR_BODIES):
        found = {
            number: closed(values[result], mesh)
            for number, result in enumerate(operation.results)
            if result in values and (edge_owner(result) or result) == result
        }
        if name in COMPUTATIONS:
            arguments = list(operation.regions[0].blocks[0].arguments)
            for attribute, ends in (
                ("in_shardings", arguments),
                ("out_shardings", list(operation.results)),
            ):
                given = get_discardable(operation, attribute)
                chosen = (
                    [closed(values.get(end, ((),) * rank_of(end.type)), mesh) for end in ends]
                    if given is None
                    else [each.closed_like() for each in value_of(given).shardings]
                )
                kept = TensorShardingPerValue(tuple(chosen))
                set_discardable(operation, attribute, cache[kept])
        elif found and single_device_sharding(operation, meshes) is None:
            set_result_shardings_of(operation, found, cache)
    main = main_function(module)
    if main is not None and results:
        shardings = {number: closed(axes, mesh) for number, axes in results.items()}
        set_result_shardings(main, shardings, cache)


class OperationAxes:
    """The axes of operations in a choice.

    An operation whose operands or results are resharded gets the axes of its factors, and one that
    leaves or takes partial values the sharding of its results before they are completed. If a plan
    minimizes something else than the time on the hardware, all operations get the axes of their
    factors: the partitioner would reshard elementwise operations without them to save time.

    Args:
        alternatives: the strategies of operations.
        built: the program with its optimization problem.
        choice: the strategy of each node.
        mesh: the name of the mesh.
        keeps_all: whether operations that need no reshards get their axes as well.
    """

    def __init__(
        self,
        alternatives: AlternativesOf,
        built: Built,
        choice: Ints,
        mesh: str,
        *,
        keeps_all: bool = False,
    ) -> None:
        self._alternatives, self._built, self._choice = alternatives, built, choice
        self._mesh, self._keeps_all = mesh, keeps_all

    def annotate(self, source: ir.Module, module: ir.Module) -> None:
        """Write the axes of the operations of a program into a copy of it."""
        pairs = zip(_operations_in(source), _operations_in(module), strict=True)
        for original, operation in pairs:
            factors = self._factors(original)
            if factors is not None:
                set_planned_axes(operation, factors)
            partial = self._partial_sharding(original)
            if partial is not None:
                set_planned_partial(operation, partial)

    def _chosen(self, operation: ir.Operation) -> tuple[Alternatives, int] | None:
        """Return the strategies of an operation with a sharding rule, and the number of its own."""
        graph = self._built.graph
        made = graph.placed.get(operation.results[0]) if len(operation.results) else None
        if made is None or operation.name in _WITHOUT_FACTORS:
            return None
        return graph.sites[made[0]].alternatives, int(self._choice[self._built.colors[made[0]]])

    def _partial_sharding(self, operation: ir.Operation) -> TensorSharding | None:
        """Return the sharding of partial results before they are completed, or left to the user.

        The result is None for operations that neither leave nor take partial values.
        """
        chosen = self._chosen(operation)
        if chosen is None:
            return None
        alternatives, at = chosen
        if not alternatives.is_partial(at):
            return None
        computed = closed(alternatives.computed[0][at], self._mesh)
        return computed.with_unreduced_axes(alternatives.reduced[at])

    def _factors(self, operation: ir.Operation) -> FactorAxes | None:
        """Return the axes of the factors of an operation that the partitioner has to keep, or None.

        These are the operations that need reshards, or all.
        """
        chosen = self._chosen(operation)
        if chosen is None:
            return None
        alternatives, at = chosen
        needed = [
            alternatives.operands[number if alternatives.factors else 0][at]
            for number in range(len(operation.operands))
        ]
        given = [self._built.axes_of_value(self._choice, each) for each in operation.operands]
        moves = any(
            own is not None and own != axes for own, axes in zip(given, needed, strict=True)
        )
        completes = any(
            computed[at] != results[at]
            for computed, results in zip(alternatives.computed, alternatives.results, strict=False)
        )
        if not (self._keeps_all or moves or completes or alternatives.is_partial(at)):
            return None
        if alternatives.factors:
            return alternatives.factors[at]
        return self._alternatives.elementwise_factors(operation, alternatives.results[0][at])


def _operations_in(module: ir.Module) -> Iterator[ir.Operation]:
    """Yield the operations of a program in its order, without those of scalar bodies."""
    return (each for each, _ in named_operations_in(module, leaving_out=SCALAR_BODIES))


# --- Manual computations --------------------------------------------------------------------------

# Manual computations are kept as they are. A dimension that is open may be sharded along axes that
# the computation leaves free: it is, as propagation decides from the shardings of the program.


_SHARDINGS = ("in_shardings", "out_shardings")


def propagate_to_manual_computations(module: ir.Module) -> None:
    """Close the shardings of the manual computations of a program by propagation.

    Args:
        module: the program, of which nothing else is changed.
    """
    own = _manual_computations(module)
    if not any(map(_is_open, own)):
        return
    propagated = copy_of(module)
    run_pipeline(propagated, "sdy-propagation-pipeline")
    found = _manual_computations(propagated)
    if len(found) != len(own):  # some have no effect, and are gone
        return
    for operation, closed in zip(own, found, strict=True):
        for name in _SHARDINGS:
            set_discardable(operation, name, get_discardable(closed, name))


def _manual_computations(module: ir.Module) -> list[ir.Operation]:
    return [
        operation
        for operation, name in named_operations_in(module)
        if name == "sdy.manual_computation"
    ]


def _is_open(operation: ir.Operation) -> bool:
    return any(
        not dim.is_closed
        for name in _SHARDINGS
        for sharding in value_of(get_discardable(operation, name)).shardings
        for dim in sharding.dim_shardings
    )
