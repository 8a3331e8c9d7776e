# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading and writing the sharding of a value.

| value                                               | attribute with its sharding                |
|-----------------------------------------------------|--------------------------------------------|
| argument or result of a function                    | `sdy.sharding` among its attributes        |
| result of `sdy.sharding_constraint`, `sdy.reshard`  | `sharding` of the operation                |
| result of a collective of the dialect               | `out_sharding` of the operation            |
| owner of a data-flow edge with an edge operation    | `sharding` of the `sdy.data_flow_edge`     |
| argument of a manual computation's body             | `in_shardings`, without the manual axes    |
| result of a manual computation                      | `out_shardings`                            |
| argument, result of a named computation             | `in_shardings`, `out_shardings`            |
| argument of a fragment's body, and its result       | `in_shardings`, `out_shardings`            |
| argument in the regions of `stablehlo.while`        | that of the result of its index            |
| result of any other operation                       | the `sdy.sharding` list of the operation   |
| any other argument of a block                       | none                                       |

Shardings are plain values of `mlir_sdy.model`. To write many of them, pass one `AttributeCache`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from mlir_sdy.attributes import AttributeCache, attribute_of, value_of
from mlir_sdy.diagnostics import wrong_type
from mlir_sdy.host import identity, ir
from mlir_sdy.model import (
    TensorSharding,
    TensorShardingPerValue,
    add_free_axes,
    erase_manual_axes,
)
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.traversal import SCALAR_BODIES, global_type, named_operations_in

SHARDING = "sdy.sharding"
"""The discardable attribute that holds shardings."""

OF_GSPMD = "mhlo.sharding"
"""The attribute of shardings of GSPMD, as texts."""

COMPUTATIONS = frozenset({"mpmd.fragment", "sdy.manual_computation", "sdy.named_computation"})
"""The operations whose body's arguments own data-flow edges."""

DATA_FLOW_OPERATIONS = COMPUTATIONS | {
    "mpmd.for",
    "stablehlo.case",
    "stablehlo.if",
    "stablehlo.optimization_barrier",
    "stablehlo.while",
}
"""The operations through which values flow from sources to targets unchanged."""

LOOPS = frozenset({"mpmd.for", "stablehlo.while"})
"""The data-flow operations whose arguments have the shardings of the results."""

ASYNC_START, ASYNC_DONE = "stablehlo.async_start", "stablehlo.async_done"

OWN_SHARDING = {
    name: attribute
    for name, declaration in OPERATIONS.items()
    for attribute in ("sharding", "out_sharding")
    if attribute in {declared.name for declared in declaration.attributes}
}
"""The attribute of an operation that holds the sharding of its only result."""


def rank_of(value_type: ir.Type) -> int:
    """Return the number of dimensions of a type; 0 for tokens and other unranked types."""
    tensor = global_type(value_type)
    return tensor.rank if isinstance(tensor, ir.RankedTensorType) else 0


# --- Data-flow edges --------------------------------------------------------------------------


def edge_owner(value: ir.Value) -> ir.Value | None:
    """The owner of the data-flow edge of which `value` is a target; None if there is no edge."""
    if isinstance(value, ir.BlockArgument):
        operation = value.owner.owner.operation
        if operation.name in COMPUTATIONS:
            return value
        index, results = value.arg_number, operation.results
        is_carried = operation.name in LOOPS and index < len(results)
        return results[index] if is_carried else None
    return value if value.owner.operation.name in DATA_FLOW_OPERATIONS else None


def edge_operation(owner: ir.Value) -> ir.Operation | None:
    """The `sdy.data_flow_edge` that is the only user of an edge's owner, if there is one."""
    uses = list(islice(owner.uses, 2))
    if len(uses) == 1:
        user = uses[0].owner.operation
        if user.name == "sdy.data_flow_edge":
            return user
    return None


def shardable_value(value: ir.Value) -> ir.Value | None:
    """Return the value that holds the sharding of `value`, or None."""
    owner = edge_owner(value)
    if owner is not None:
        edge = edge_operation(owner)
        return owner if edge is None else edge.results[0]
    if not isinstance(value, ir.BlockArgument):
        return value
    parent = value.owner.owner.operation
    if parent.name == "func.func":
        return value
    if parent.name == ASYNC_START:
        return shardable_value(parent.operands[value.arg_number])
    return None


_VALUE = """a value of a module, such as sdy.values(module)["%x"]"""

# --- One value --------------------------------------------------------------------------------


def get_sharding(value: ir.Value) -> TensorSharding | None:
    """The sharding of a value; None if it has none.

    Raises:
        WrongTypeError: it is no value.
    """
    if not isinstance(value, ir.BlockArgument):
        if not isinstance(value, ir.Value):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("get_sharding", _VALUE, value)
        operation = value.owner.operation  # its view may have another `name`, an attribute
        name = operation.name
        if name not in DATA_FLOW_OPERATIONS:  # most values: their sharding can only be here
            own = OWN_SHARDING.get(name)
            attribute = operation.attributes.get(SHARDING if own is None else own)
            if attribute is None:
                return None
            held = value_of(attribute)
            if own is not None:
                return held
            several = len(held.shardings) > 1
            return _at(held.shardings, ir.OpResult(value).result_number if several else 0)
    holder = shardable_value(value)
    if holder is None:
        return None
    if isinstance(holder, ir.BlockArgument):
        parent = holder.owner.owner.operation
        if parent.name == "func.func":
            return argument_sharding(parent, holder.arg_number)
        return body_argument_sharding(parent, holder.arg_number)
    result = ir.OpResult(holder)
    return _at(result_shardings_of(result.owner.operation), result.result_number)


def look_through_barriers(value: ir.Value) -> ir.Value:
    """Return the input of the chain of propagation barriers that defines `value`, or `value`."""
    while not isinstance(value, ir.BlockArgument):
        operation = value.owner.operation
        if operation.name != "sdy.propagation_barrier":
            break
        value = operation.operands[0]
    return value


def set_sharding(
    value: ir.Value, sharding: TensorSharding, cache: AttributeCache | None = None
) -> None:
    """Set the sharding of a value, unless it can't have one.

    If the shardings of several values are in one list that does not exist yet, the others become
    fully open.

    Raises:
        WrongTypeError: it is no value.
    """
    if not isinstance(value, ir.Value):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("set_sharding", _VALUE, value)
    holder = shardable_value(value)
    if holder is None:
        return
    if isinstance(holder, ir.BlockArgument):
        parent, index = holder.owner.owner.operation, holder.arg_number
        if parent.name == "func.func":
            set_argument_shardings(parent, {index: sharding}, cache)
        else:
            set_body_argument_shardings(parent, {index: sharding}, cache)
    else:
        result = ir.OpResult(holder)
        set_result_shardings_of(result.owner.operation, {result.result_number: sharding}, cache)


def _at(shardings: Sequence[TensorSharding], index: int) -> TensorSharding | None:
    return shardings[index] if shardings else None


# --- The values of one operation --------------------------------------------------------------


def result_shardings_of(operation: ir.Operation) -> tuple[TensorSharding, ...]:
    """Return the shardings of an operation's results; empty if it has none."""
    name = operation.name
    own = OWN_SHARDING.get(name)
    if own is not None:
        attribute = operation.attributes.get(own)
        return () if attribute is None else (value_of(attribute),)
    return _list(operation.attributes, "out_shardings" if name in COMPUTATIONS else SHARDING)


def result_sharding_attribute(operation: ir.Operation, own: str | None) -> ir.Attribute | None:
    """Return the attribute that holds the shardings of an operation's results, or None.

    Args:
        operation: an operation other than `sdy.manual_computation` and `sdy.named_computation`.
        own: the entry of `OWN_SHARDING` for the operation.
    """
    return operation.attributes.get(own or SHARDING)


def set_result_shardings_of(
    operation: ir.Operation,
    shardings: Mapping[int, TensorSharding],
    cache: AttributeCache | None = None,
) -> None:
    """Set the shardings of some results of an operation, by their index."""
    own = OWN_SHARDING.get(operation.name)
    if own is not None:
        operation.attributes[own] = _attribute(shardings[0], operation, cache)
        return
    name = _result_list(operation)
    ranks = [rank_of(result.type) for result in operation.results]
    complete = _completed(_list(operation.attributes, name), shardings, ranks)
    operation.attributes[name] = _attribute(complete, operation, cache)


def body_argument_shardings(operation: ir.Operation) -> tuple[TensorSharding, ...]:
    """The shardings of the arguments of a computation's body; empty if there are none."""
    shardings = _list(operation.attributes, "in_shardings")
    manual = manual_axes(operation)
    return tuple(erase_manual_axes(sharding, manual) for sharding in shardings)


def body_argument_sharding(operation: ir.Operation, index: int) -> TensorSharding | None:
    """Return the sharding of an argument of a computation's body without reading the others."""
    sharding = _at(_list(operation.attributes, "in_shardings"), index)
    return None if sharding is None else erase_manual_axes(sharding, manual_axes(operation))


def set_body_argument_shardings(
    operation: ir.Operation,
    shardings: Mapping[int, TensorSharding],
    cache: AttributeCache | None = None,
) -> None:
    """Set the shardings of some arguments of a computation's body, by their index."""
    current = _list(operation.attributes, "in_shardings")
    if operation.name == "sdy.manual_computation":
        manual = manual_axes(operation)
        shardings = {
            index: add_free_axes(current[index], sharding, manual)
            for index, sharding in shardings.items()
        }
    ranks = [rank_of(operand.type) for operand in operation.operands]
    complete = _completed(current, shardings, ranks)
    operation.attributes["in_shardings"] = _attribute(complete, operation, cache)


def manual_axes(operation: ir.Operation) -> tuple[str, ...]:
    """The names of the manual axes of a computation; a `sdy.named_computation` has none."""
    if operation.name != "sdy.manual_computation":
        return ()
    return value_of(operation.attributes["manual_axes"]).value


def _result_list(operation: ir.Operation) -> str:
    return "out_shardings" if operation.name in COMPUTATIONS else SHARDING


def _list(attributes: ir.OpAttributeMap, name: str) -> tuple[TensorSharding, ...]:
    attribute = attributes.get(name)
    return () if attribute is None else value_of(attribute).shardings


def _completed(
    current: Sequence[TensorSharding], new: Mapping[int, TensorSharding], ranks: Sequence[int]
) -> TensorShardingPerValue:
    """Return the current shardings, or fully open ones, with the new ones inserted."""
    if len(new) == len(ranks):
        return TensorShardingPerValue(tuple(new[index] for index in range(len(ranks))))
    mesh = next(iter(new.values())).mesh_or_ref
    complete = list(current or TensorShardingPerValue.fully_open(ranks, mesh).shardings)
    for index, sharding in new.items():
        complete[index] = sharding
    return TensorShardingPerValue(tuple(complete))


def _attribute(
    value: TensorSharding | TensorShardingPerValue,
    operation: ir.Operation,
    cache: AttributeCache | None,
) -> ir.Attribute:
    return attribute_of(value, operation.context) if cache is None else cache[value]


# --- Functions --------------------------------------------------------------------------------


def argument_shardings(function: ir.Operation | ir.OpView) -> list[TensorSharding | None]:
    """The sharding of each argument of a function."""
    operation = function.operation
    return _interface_shardings(operation, "arg_attrs", _function_type(operation).inputs)


def argument_sharding(function: ir.Operation, index: int) -> TensorSharding | None:
    """Return the sharding of an argument of a function without reading the others."""
    if "arg_attrs" not in function.attributes:
        return None
    return _sharding_in(function.attributes["arg_attrs"][index])


def result_shardings(function: ir.Operation | ir.OpView) -> list[TensorSharding | None]:
    """The sharding of each result of a function."""
    operation = function.operation
    return _interface_shardings(operation, "res_attrs", _function_type(operation).results)


def set_argument_shardings(
    function: ir.Operation | ir.OpView,
    shardings: Mapping[int, TensorSharding | None],
    cache: AttributeCache | None = None,
) -> None:
    """Set, or remove with None, the shardings of some arguments of a function by their index."""
    set_argument_attributes(function, SHARDING, _attributes(shardings, function.operation, cache))


def set_result_shardings(
    function: ir.Operation | ir.OpView,
    shardings: Mapping[int, TensorSharding | None],
    cache: AttributeCache | None = None,
) -> None:
    """Set, or remove with None, the shardings of some results of a function by their index."""
    set_result_attributes(function, SHARDING, _attributes(shardings, function.operation, cache))


def interface_attributes(
    function: ir.Operation, name: str
) -> tuple[list[ir.Attribute | None], list[ir.Attribute | None]]:
    """Return an attribute of all arguments of a function, and that of all results."""
    types = _function_type(function)
    return (
        _interface_attributes(function, "arg_attrs", len(types.inputs), name),
        _interface_attributes(function, "res_attrs", len(types.results), name),
    )


def set_interface_attributes(
    function: ir.Operation,
    name: str,
    arguments: Iterable[ir.Attribute | None],
    results: Iterable[ir.Attribute | None],
) -> None:
    """Set, or remove with None, an attribute of all arguments and results of a function."""
    set_argument_attributes(function, name, dict(enumerate(arguments)))
    set_result_attributes(function, name, dict(enumerate(results)))


def set_argument_attributes(
    function: ir.Operation | ir.OpView, name: str, attributes: Mapping[int, ir.Attribute | None]
) -> None:
    """Set, or remove with None, an attribute of some arguments of a function by their index."""
    operation = function.operation
    count = len(_function_type(operation).inputs)
    _set_interface_attributes(operation, "arg_attrs", count, name, attributes)


def set_result_attributes(
    function: ir.Operation | ir.OpView, name: str, attributes: Mapping[int, ir.Attribute | None]
) -> None:
    """Set, or remove with None, an attribute of some results of a function by their index."""
    operation = function.operation
    count = len(_function_type(operation).results)
    _set_interface_attributes(operation, "res_attrs", count, name, attributes)


def _attributes(
    shardings: Mapping[int, TensorSharding | None],
    function: ir.Operation,
    cache: AttributeCache | None,
) -> dict[int, ir.Attribute | None]:
    return {
        index: None if sharding is None else _attribute(sharding, function, cache)
        for index, sharding in shardings.items()
    }


def _function_type(function: ir.Operation) -> ir.FunctionType:
    return function.attributes["function_type"].value


def _interface_attributes(
    function: ir.Operation, entry: str, count: int, name: str
) -> list[ir.Attribute | None]:
    if entry not in function.attributes:
        return [None] * count
    return [
        each[name] if name in each else None  # noqa: SIM401 (a `DictAttr` has no such `get`)
        for each in function.attributes[entry]
    ]


def _interface_shardings(
    function: ir.Operation, entry: str, types: Sequence[ir.Type]
) -> list[TensorSharding | None]:
    found = _interface_attributes(function, entry, len(types), SHARDING)
    return [None if each is None else value_of(each) for each in found]


def _sharding_in(dictionary: ir.DictAttr) -> TensorSharding | None:
    return value_of(dictionary[SHARDING]) if SHARDING in dictionary else None


def _set_interface_attributes(
    function: ir.Operation,
    entry: str,
    count: int,
    name: str,
    values: Mapping[int, ir.Attribute | None],
) -> None:
    context = function.context
    if entry in function.attributes:
        dictionaries = list(function.attributes[entry])
    else:
        dictionaries = [ir.DictAttr.get({}, context)] * count
    for index, value in values.items():
        dictionary = dictionaries[index]
        if value is None and name not in dictionary:
            continue
        attributes = {named.name: named.attr for named in dictionary}
        if value is None:
            del attributes[name]
        else:
            attributes[name] = value
        dictionaries[index] = ir.DictAttr.get(attributes, context)
    function.attributes[entry] = ir.ArrayAttr.get(dictionaries, context)


# --- All shardings of a module ----------------------------------------------------------------

_DISCARDABLE = (SHARDING,)
SHARDING_ENTRIES = {
    **{name: (attribute, SHARDING) for name, attribute in OWN_SHARDING.items()},
    **dict.fromkeys(COMPUTATIONS, ("in_shardings", "out_shardings")),
}
"""The inherent attributes that hold shardings, by operation."""


def sharded_operations(
    root: ir.Operation | ir.OpView, *, leaving_out: Collection[str] = SCALAR_BODIES
) -> Iterator[tuple[ir.Operation, str, Hashable]]:
    """Return the operations with `sdy.sharding` in `root`, with their names and a key.

    The key is equal for operations whose results have the same types and shardings.

    Args:
        root: the operation to begin with.
        leaving_out: the names of operations whose regions are skipped.
    """
    return sharded_among(named_operations_in(root, leaving_out=leaving_out))


def sharded_among(
    operations: Iterable[tuple[ir.Operation, str]],
) -> Iterator[tuple[ir.Operation, str, Hashable]]:
    """Yield those of several operations, given with their names, as `sharded_operations` does."""
    for operation, name in operations:
        attribute = operation.attributes.get(SHARDING)
        if attribute is not None:
            yield operation, name, (identity(attribute), result_types_key(operation))


def result_types_key(operation: ir.Operation) -> Hashable:
    """Return a key that is equal for operations whose results have the same types."""
    results = operation.results
    if len(results) == 1:  # nearly always, and a loop takes longer
        return identity(results[0].type)
    return tuple(map(identity, results.types))


def sharding_attributes(operation: ir.Operation) -> list[ir.Attribute]:
    """Return the attributes of an operation, but not of a function, that hold shardings."""
    attributes = operation.attributes
    entries = SHARDING_ENTRIES.get(operation.name, _DISCARDABLE)
    found = [attributes.get(entry) for entry in entries]
    return [attribute for attribute in found if attribute is not None]


def map_shardings(
    root: ir.Operation | ir.OpView | ir.Module,
    change: Callable[[TensorSharding], TensorSharding],
    *,
    leaving_out: Collection[str] = (),
) -> list[tuple[ir.Attribute, ir.Attribute]]:
    """Replace each sharding in `root` by the result of `change` for it.

    The order is that of the text: for a function its arguments, its results and then its body. The
    result of `change` must only depend on the sharding: it is called once for equal lists.

    Args:
        root: the operation to begin with.
        change: returns the new sharding of a sharding.
        leaving_out: the names of operations whose regions are skipped.

    Returns:
        The different shardings and lists of them that were found, each with what it has become:
        the same object if it has not changed.
    """
    changes = _Changes(change, root.operation.context)
    for operation, name in named_operations_in(root, leaving_out=leaving_out):
        attributes = operation.attributes
        if name == "func.func":
            _map_interface(attributes, changes)
            continue
        for entry in SHARDING_ENTRIES.get(name, _DISCARDABLE):
            attribute = attributes.get(entry)
            if attribute is not None:
                new = changes.of_list(attribute)
                if new is not None:
                    attributes[entry] = new
    return changes.pairs()


class _Changes:
    """The results of a function of shardings for attributes that hold shardings, cached."""

    def __init__(self, change: Callable[[TensorSharding], TensorSharding], context: ir.Context):
        self._change = change
        self.context = context
        self._cache = AttributeCache(context)
        # By the address of the old attribute, as comparing attributes is slow.
        self._known: dict[int, ir.Attribute | None] = {}
        self._lists: dict[int, ir.Attribute] = {}

    def pairs(self) -> list[tuple[ir.Attribute, ir.Attribute]]:
        """Return the shardings, and lists of them, with their replacements or themselves."""
        return [(old, self._known[key] or old) for key, old in self._lists.items()]

    def of_list(self, old: ir.Attribute) -> ir.Attribute | None:
        """Return the replacement of a sharding or a list of them; None if it does not change."""
        key = identity(old)
        if key not in self._known:
            self._known[key] = self._changed(old)
            self._lists[key] = old
        return self._known[key]

    def of_dictionary(self, old: ir.DictAttr) -> ir.Attribute | None:
        """Return the replacement of the attributes of an argument or result; None if unchanged."""
        key = identity(old)
        if key not in self._known:
            new = self.of_list(old[SHARDING]) if SHARDING in old else None
            self._known[key] = None if new is None else _with_sharding(old, new)
        return self._known[key]

    def _changed(self, old: ir.Attribute) -> ir.Attribute | None:
        value = value_of(old)
        if isinstance(value, TensorSharding):
            new: TensorSharding | TensorShardingPerValue = self._change(value)
        else:
            new = TensorShardingPerValue(tuple(map(self._change, value.shardings)))
        return None if new == value else self._cache[new]


def _with_sharding(dictionary: ir.DictAttr, sharding: ir.Attribute) -> ir.DictAttr:
    attributes = {named.name: named.attr for named in dictionary}
    return ir.DictAttr.get({**attributes, SHARDING: sharding}, dictionary.context)


def _map_interface(attributes: ir.OpAttributeMap, changes: _Changes) -> None:
    """Change the shardings of the arguments, and then of the results, of a function."""
    for entry in ("arg_attrs", "res_attrs"):
        if entry in attributes:
            old = list(attributes[entry])
            new = [changes.of_dictionary(dictionary) for dictionary in old]
            if any(each is not None for each in new):
                complete = [one or other for one, other in zip(new, old, strict=True)]
                attributes[entry] = ir.ArrayAttr.get(complete, changes.context)
