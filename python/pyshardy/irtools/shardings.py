# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fast look-up of the shardings in a module."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from mlir_sdy.attribute_search import values_of_attribute
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import identity, ir
from mlir_sdy.model import Mesh, TensorSharding, TensorShardingPerValue
from mlir_sdy.traversal import named_operations_in
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    COMPUTATIONS,
    SHARDING,
    SHARDING_ENTRIES,
    argument_shardings,
    edge_operation,
    map_shardings,
    rank_of,
    result_shardings,
    result_shardings_of,
    set_body_argument_shardings,
    set_result_shardings_of,
    sharded_among,
    sharding_attributes,
)
from pyshardy.irtools.analyses import (
    UNCHANGED,
    Changes,
    is_computed,
    module_analysis,
    note_analysis,
)
from pyshardy.irtools.walks import note_operation_names, operations_named

MODULE_SHARDING_METADATA = ("sdy.parameters_shardings", "sdy.output_shardings")
"""The attributes of a local module that hold the shardings of the global `@main`."""

_CALL = "func.call"


class ResultKind(NamedTuple):
    """The common shardings and types of the results of several operations.

    Attributes:
        shardings: their `sdy.sharding`.
        types: the types of their results.
    """

    shardings: ir.Attribute
    types: tuple[ir.Type, ...]

    @classmethod
    def of(cls, operation: ir.Operation, shardings: ir.Attribute) -> ResultKind:
        """Return the kind of the results of an operation with the given shardings."""
        return cls(shardings, tuple(result.type for result in operation.results))

    def results(self) -> Iterator[tuple[ir.Type, TensorSharding]]:
        """Return the type and the sharding of each result."""
        return zip(self.types, _shardings_in(self.shardings), strict=False)


class ResultKinds(tuple[ResultKind, ...]):
    """Different kinds of results."""

    @cached_property
    def shardings(self) -> tuple[TensorSharding, ...]:
        """The different shardings of the kinds."""
        lists = {identity(kind.shardings): kind.shardings for kind in self}
        return different_shardings(lists.values())


def different_shardings(attributes: Iterable[ir.Attribute]) -> tuple[TensorSharding, ...]:
    """Return the different shardings in attributes that are shardings or lists of them."""
    return tuple(dict.fromkeys(chain.from_iterable(map(_shardings_in, attributes))))


def _has_all(known: Iterable[Hashable], current: Iterable[Hashable]) -> bool:
    return set(current) <= set(known)


@module_analysis("result-kinds", holds=_has_all)
def result_kinds(module: ir.Operation) -> ResultKinds:
    """Return the different kinds of results in a module, except those of calls.

    Passes that copy or erase operations preserve this analysis, so some kinds may no longer occur.
    """
    found: dict[Hashable, ResultKind] = {}
    operations = named_operations_in(module)
    note_operation_names(module, (name for _, name in operations[1:]))
    for operation, name, key in sharded_among(operations):
        if key not in found and name != _CALL:
            found[key] = ResultKind.of(operation, get_discardable(operation, SHARDING))
    return ResultKinds(found.values())


@module_analysis("interface-shardings", holds=_has_all)
def interface_shardings(module: ir.Operation) -> tuple[TensorSharding, ...]:
    """Return the different shardings of functions, calls, and operations with their own attributes.

    Passes that copy or erase operations preserve this analysis, so some may no longer occur.
    """
    found: list[TensorSharding | None] = []
    attributes: dict[int, ir.Attribute] = {}
    for operation in operations_named(_WITH_OWN_SHARDINGS, module):
        if operation.name == "func.func":
            found += (*argument_shardings(operation), *result_shardings(operation))
        else:
            attributes |= {identity(each): each for each in sharding_attributes(operation)}
    found += chain.from_iterable(map(_shardings_in, attributes.values()))
    return tuple(filter(None, dict.fromkeys(found)))


def add_written_shardings(
    module: ir.Operation,
    operations: Iterable[ir.Operation],
    shardings: Iterable[TensorSharding],
) -> None:
    """Add what the current pass has written to the analyses of shardings, which hold then.

    Args:
        module: the module.
        operations: all operations, other than calls, whose `sdy.sharding` it has set or that it
            has inserted with one.
        shardings: all others that it has written.
    """
    written = {
        ResultKind.of(operation, attribute): None
        for operation in operations
        if (attribute := get_discardable(operation, SHARDING)) is not None
    }
    if is_computed("result-kinds", module):
        kinds = dict.fromkeys((*result_kinds(module), *written))
        note_analysis("result-kinds", module, ResultKinds(kinds))
    if is_computed("interface-shardings", module):
        different = dict.fromkeys((*interface_shardings(module), *shardings))
        note_analysis("interface-shardings", module, tuple(different))


def change_shardings(
    module: ir.Module,
    is_affected: Callable[[TensorSharding], bool],
    change: Callable[[TensorSharding], TensorSharding],
) -> Changes:
    """Replace each sharding in a module by a function of it; the analyses of shardings follow.

    Args:
        module: the module.
        is_affected: whether a sharding changes.
        change: returns what becomes of a sharding; called in the order of the text, if any changes.
    """
    root = module.operation
    if not any_sharding(root, is_affected):
        return UNCHANGED
    kinds, interface = result_kinds(root), interface_shardings(root)
    changed = {identity(old): new for old, new in map_shardings(root, change)}
    kinds = dict.fromkeys(
        ResultKind(changed[identity(kind.shardings)], kind.types)
        for kind in kinds
        if identity(kind.shardings) in changed
    )
    note_analysis("result-kinds", root, ResultKinds(kinds))
    note_analysis("interface-shardings", root, tuple(dict.fromkeys(map(change, interface))))
    return Changes()


def any_sharding(
    root: ir.Operation | ir.OpView | ir.Module, test: Callable[[TensorSharding], bool]
) -> bool:
    """Whether a sharding in `root` passes a test, which is called once for equal lists.

    For a module, while a pipeline runs, shardings may be from the cached analysis.
    """
    if root.operation.name == "builtin.module":
        shardings = result_kinds(root.operation).shardings
        return any(map(test, dict.fromkeys((*interface_shardings(root.operation), *shardings))))
    if root.operation.name == "func.func" and _any_in_interface(root.operation, test):
        return True
    different = {identity(each): each for each in values_of_attribute(SHARDING, root)}
    for operation in operations_named(_WITH_OWN_SHARDINGS, root):
        if operation.name == "func.func":
            if _any_in_interface(operation, test):
                return True
            continue
        for attribute in sharding_attributes(operation):
            different[identity(attribute)] = attribute
    return any(map(test, chain.from_iterable(map(_shardings_in, different.values()))))


_WITH_OWN_SHARDINGS = {"func.func", _CALL, *SHARDING_ENTRIES}


def _shardings_in(attribute: ir.Attribute) -> Sequence[TensorSharding]:
    value = value_of(attribute)
    return (value,) if isinstance(value, TensorSharding) else value.shardings


def _any_in_interface(function: ir.Operation, test: Callable[[TensorSharding], bool]) -> bool:
    return any(
        sharding is not None and test(sharding)
        for sharding in (*argument_shardings(function), *result_shardings(function))
    )


def complete_list(
    shardings: Sequence[TensorSharding | None],
    types: Sequence[ir.Type],
    meshes: Mapping[str, Mesh],
) -> TensorShardingPerValue | None:
    """Return the shardings of values, open where a value has none; None without any sharding.

    1. The mesh of open shardings is that of the first sharding that is not on a maximal mesh.
    2. If there is no such sharding, there is no list.

    No sharding and `<@mesh, [{"x"}]>` give `[<@mesh, [{?}]>, <@mesh, [{"x"}]>]`.

    Args:
        shardings: the sharding of each value, or None.
        types: the types of the values.
        meshes: the meshes of the module by their names.
    """
    references = (given.mesh_or_ref for given in shardings if given is not None)
    for reference in references:
        mesh = meshes[reference] if isinstance(reference, str) else reference
        if not mesh.is_maximal:
            return TensorShardingPerValue(
                tuple(
                    given or TensorSharding.fully_open(rank_of(value_type), reference)
                    for given, value_type in zip(shardings, types, strict=True)
                )
            )
    return None


def constraint_to_reshard(constraint: ir.Operation) -> None:
    """Replace an `sdy.sharding_constraint` by an `sdy.reshard` with its attributes."""
    reshard = ir.Operation.create(
        "sdy.reshard",
        results=[constraint.results[0].type],
        operands=[constraint.operands[0]],
        attributes=dict(constraint.attributes.items()),
        loc=constraint.location,
        ip=ir.InsertionPoint(constraint),
    )
    replace_by(constraint, reshard.results[0])


# --- The edges of an operation, whose shardings are moved to it -----------------------------------


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
    replace_by(edge, edge.operands[0])


def _group(operation: ir.Operation, owners: Sequence[ir.Value], write: _Write) -> EdgeGroup:
    return EdgeGroup(operation, owners, write, [edge_operation(owner) for owner in owners])


def _sharding(edge: ir.Operation | None) -> TensorSharding | None:
    if edge is None:
        return None
    return next(iter(result_shardings_of(edge)), None)
