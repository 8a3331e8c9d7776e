# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verifiers of the operations of the mpmd dialect, without the functions that calls name."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlir_sdy import attributes as of_sdy
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.attributes import MeshTensorType, MpmdAttribute, text_of
from mlir_sdy.mpmd.reading import (
    CALL_COUNTER,
    FOR,
    TOPOLOGY,
    body_of,
    mesh_name_of,
    topology_of,
)
from mlir_sdy.mpmd.values import MEMORY_KINDS, MeshReduction, NamedMesh, Topology
from mlir_sdy.ods.mpmd_tables import OPERATIONS
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.symbols import enclosing_function
from mlir_sdy.verify.operations import Verifier, trait_of
from mlir_sdy.verify.sharding import check_sharding
from mlir_sdy.verify.violation import ConstraintViolation

_MEMORY_KIND = "mhlo.memory_kind"
_TOKEN = "!stablehlo.token"


# --- Parts of verifiers ---------------------------------------------------------------------------


def topology_around(operation: ir.Operation) -> Topology:
    """Return the topology of the function around an operation.

    Raises:
        ConstraintViolation: there is none.
    """
    function = enclosing_function(operation)
    topology = None if function is None else topology_of(function)
    if topology is None:
        name = "" if function is None else function.attributes["sym_name"].value
        raise ConstraintViolation(f"Function does not have a {TOPOLOGY} attribute: {name}")
    return topology


def mesh_in(topology: Topology, name: str) -> NamedMesh:
    """Return a mesh of a topology.

    Raises:
        ConstraintViolation: it has no mesh of that name.
    """
    mesh = topology.named(name)
    if mesh is None:
        listed = f": its meshes are {', '.join(topology.names)}"
        advice = did_you_mean(name, topology.names) or listed
        raise ConstraintViolation(f"Topology doesn't have a mesh with name: {name}{advice}")
    return mesh


def _check_mesh_type(what: str, found: ir.Type) -> MeshTensorType:
    if not isinstance(found, MeshTensorType):
        raise ConstraintViolation(f"{what} must be mesh tensor type, but got '{found}'")
    return found


def _check_type_on_topology(found: MeshTensorType, topology: Topology) -> None:
    mesh = mesh_in(topology, found.mesh_name)
    sharding = found.sharding
    if sharding is not None:
        _check_sharding(of_sdy.value_of(sharding), found.global_type, mesh)


def _check_sharding(sharding: TensorSharding, tensor: ir.RankedTensorType, mesh: NamedMesh) -> None:
    of_name = {sharding.mesh_or_ref: mesh.mesh} if isinstance(sharding.mesh_or_ref, str) else {}
    check_sharding(sharding, tensor, of_name, {})
    sizes = tensor.shape
    for dim, (size, split) in enumerate(zip(sizes, sharding.dim_shardings, strict=True)):
        parts = prod(axis.size(mesh.mesh) for axis in split.axes)
        if size >= 0 and size % parts:
            raise ConstraintViolation(
                f"dim {dim} with size {size} is not divisible by its sharded size {parts}"
            )


def _check_number(what: str, found: int, values: str, expected: int) -> None:
    if found != expected:
        raise ConstraintViolation(
            f"number of {what} must match the number of {values} respectively: "
            f"{found} != {expected}"
        )


def _returned(operation: ir.Operation) -> list[ir.Type]:
    blocks = operation.regions[0].blocks
    if len(blocks) != 1:
        raise ConstraintViolation(f"expects a region with one block, got {len(blocks)}")
    operations = blocks[0].operations
    if not len(operations):
        raise ConstraintViolation("expects a non-empty block")
    terminator = operations[len(operations) - 1].operation
    if terminator.name != "mpmd.return":
        raise ConstraintViolation(
            f"expects regions to end with 'mpmd.return', found '{terminator.name}'"
        )
    return [value.type for value in terminator.operands]


def _arguments(operation: ir.Operation) -> list[ir.Type]:
    return [argument.type for argument in body_of(operation).arguments]


def _check_counter(operation: ir.Operation) -> None:
    counter = operation.attributes.get(CALL_COUNTER)
    unsigned = ir.IntegerType.get_unsigned(32, operation.context)
    if counter is not None and getattr(counter, "type", None) != unsigned:
        found = getattr(counter, "type", counter)
        raise ConstraintViolation(f"call_counter must be an uint32, got '{found}'")


def check_global_types(
    found: Sequence[ir.Type], values: Sequence[ir.Type], what: str, of: str
) -> None:
    """Check that types inside of a fragment are the global types of the values outside.

    Raises:
        ConstraintViolation: one isn't, or the numbers differ.
    """
    _check_number(f"{what}s", len(found), f"{of}s", len(values))
    for inner, outer in zip(found, values, strict=True):
        expected = outer.global_type if isinstance(outer, MeshTensorType) else outer
        if inner != expected:
            raise ConstraintViolation(
                f"expected the type of the {what} to be global tensor type {of}: "
                f"'{expected}', got: '{inner}'"
            )


def check_on_mesh(operation: ir.Operation, topology: Topology) -> None:
    """Check that the operands and results of a fragment are on its mesh.

    Raises:
        ConstraintViolation: one isn't.
    """
    name = mesh_name_of(operation)
    mesh_in(topology, name)
    checked: set[ir.Type] = set()  # hundreds of values have few types
    for of, values in (("operand", operation.operands), ("result", operation.results)):
        for index, value in enumerate(values):
            found = value.type
            if found in checked or str(found) == _TOKEN:
                continue
            checked.add(found)
            if not isinstance(found, MeshTensorType):
                kinds = "" if operation.name == "mpmd.fragment_call" else " or token"
                message = f"{of} #{index} must be variadic of mesh tensor type{kinds}"
                raise ConstraintViolation(f"{message}, but got '{found}'")
            _check_type_on_topology(found, topology)
            if found.mesh_name != name:
                raise ConstraintViolation(
                    f"expected the mesh name of the {of} to match that of the fragment op: "
                    f"{found.mesh_name} != {name}"
                )
    for each in operation.attributes["origin"]:
        if not isinstance(each, MpmdAttribute) or each.attr_name != "mpmd.user_origin":
            raise ConstraintViolation(
                "attribute 'origin' failed to satisfy constraint: array of origin infos"
            )


def _check_parent(operation: ir.Operation) -> None:
    parent = operation.parent
    if parent is None or parent.operation.name not in ("func.func", FOR):
        raise ConstraintViolation("expects parent op to be one of 'func.func, mpmd.for'")


# --- Verifiers ------------------------------------------------------------------------------------


def _verify_named_computation(operation: ir.Operation) -> None:
    returned, arguments = _returned(operation), _arguments(operation)
    operands = [operand.type for operand in operation.operands]
    results = [result.type for result in operation.results]
    for index, each in enumerate(operands):
        if not isinstance(each, ir.RankedTensorType) and str(each) != _TOKEN:
            raise ConstraintViolation(
                f"operand #{index} must be variadic of ranked tensor or token, but got "
                f"'{text_of(each)}'"
            )
    for found, values, what, of in (
        (arguments, operands, "block argument", "operand"),
        (returned, results, "returned value", "result"),
    ):
        _check_number(f"{what}s", len(found), f"{of}s", len(values))
        for inner, outer in zip(found, values, strict=True):
            if inner != outer:
                raise ConstraintViolation(
                    f"expected the type of the {what} to match the type of {of}: '{inner}', "
                    f"got: '{outer}'"
                )


def _verify_fragment(operation: ir.Operation) -> None:
    _check_parent(operation)
    topology = topology_around(operation)
    operands = [operand.type for operand in operation.operands]
    results = [result.type for result in operation.results]
    check_on_mesh(operation, topology)
    returned = _returned(operation)
    check_global_types(_arguments(operation), operands, "block argument", "operand")
    check_global_types(returned, results, "returned value", "result")
    mesh = mesh_in(topology, mesh_name_of(operation))
    for name, types in (("in_shardings", operands), ("out_shardings", results)):
        attribute = operation.attributes.get(name)
        if attribute is None:
            continue
        shardings = of_sdy.value_of(attribute).shardings
        _check_number(name, len(shardings), "values", len(types))
        for sharding, each in zip(shardings, types, strict=True):
            if isinstance(each, MeshTensorType):
                try:
                    _check_sharding(sharding, each.global_type, mesh)
                except ConstraintViolation as violation:
                    raise violation.prefixed(f"{name}: ") from None


def _verify_fragment_call(operation: ir.Operation) -> None:
    check_on_mesh(operation, topology_around(operation))


def _verify_transfer(operation: ir.Operation) -> None:
    topology = topology_around(operation)
    types = [
        _check_mesh_type("operand #0", operation.operands[0].type),
        _check_mesh_type("result #0", operation.results[0].type),
    ]
    for each in types:
        _check_type_on_topology(each, topology)
        kind = each.memory_kind
        if kind is not None and kind not in MEMORY_KINDS:
            raise ConstraintViolation(
                f"memory kind must be either 'pinned_host' or 'device'. Found '{kind}'."
            )
    source, target = types
    if source.global_type != target.global_type:
        raise ConstraintViolation(
            f"cannot perform transfer between given types '{text_of(source)}' and "
            f"'{text_of(target)}': global tensor types are different"
        )
    _check_memory_attributes(operation)


def _check_memory_attributes(operation: ir.Operation) -> None:
    """Check that neither the transfer nor the function states a kind of memory by an attribute."""
    remedy = "Memory kinds must be expressed in the type."
    function = enclosing_function(operation)
    assert function is not None, "it has a topology"
    source = operation.operands[0]
    if isinstance(source, ir.BlockArgument) and _has_memory_kind(
        function, "arg_attrs", source.arg_number
    ):
        raise ConstraintViolation(
            f"Transfers from host with attributes are not supported. {remedy}"
        )
    kind = operation.attributes.get(_MEMORY_KIND)
    if (isinstance(kind, ir.StringAttr) and kind.value == "pinned_host") or any(
        use.owner.operation.name == "func.return"
        and _has_memory_kind(function, "res_attrs", use.operand_number)
        for use in operation.results[0].uses
    ):
        # The words are those of C++ Shardy, which its tests expect.
        raise ConstraintViolation(
            "Transfers to host with attributes are not supported. Memory kinds must expressed be "
            "in the type."
        )


def _has_memory_kind(function: ir.Operation, name: str, index: int) -> bool:
    attributes = function.attributes.get(name)
    if attributes is None or index >= len(attributes) or _MEMORY_KIND not in attributes[index]:
        return False
    return attributes[index][_MEMORY_KIND].value == "pinned_host"


def _verify_assignment(
    operation: ir.Operation, what: str, on_mesh: ir.Type, tensor: ir.Type
) -> None:
    topology = topology_around(operation)
    mesh_type = _check_mesh_type(what, on_mesh)
    mesh_in(topology, mesh_type.mesh_name)
    sharding = mesh_type.sharding
    if sharding is not None and not of_sdy.value_of(sharding).is_fully_replicated:
        raise ConstraintViolation(
            f"MeshTensorType should be fully replicated: '{text_of(mesh_type)}'"
        )
    if mesh_type.global_type != tensor:
        raise ConstraintViolation(
            f"mismatch between the given local type '{text_of(tensor)}' and mesh_type ranked "
            f"tensor type: '{mesh_type.global_type}'"
        )


def _verify_assign(operation: ir.Operation) -> None:
    _verify_assignment(
        operation, "result #0", operation.results[0].type, operation.operands[0].type
    )


def _verify_unassign(operation: ir.Operation) -> None:
    _verify_assignment(
        operation, "operand #0", operation.operands[0].type, operation.results[0].type
    )


def _verify_call(operation: ir.Operation) -> None:
    _check_counter(operation)


def _verify_for(operation: ir.Operation) -> None:
    unsigned = ir.IntegerType.get_unsigned(32, operation.context)
    for name in ("iterations", "unroll_factor"):
        if name in operation.attributes and operation.attributes[name].type != unsigned:
            raise ConstraintViolation(
                f"attribute '{name}' failed to satisfy constraint: 32-bit unsigned integer "
                "attribute"
            )
    types = [operand.type for operand in operation.operands]
    returned, arguments = _returned(operation), _arguments(operation)
    if len({isinstance(each, MeshTensorType) for each in types}) > 1:
        raise ConstraintViolation("type ids in operands/results are not identical")
    iterations = operation.attributes["iterations"].value
    if iterations == 0:
        raise ConstraintViolation("number of iterations must be greater than zero")
    factor = operation.attributes.get("unroll_factor")
    if factor is not None and (factor.value == 0 or iterations % factor.value):
        raise ConstraintViolation(
            f"number of iterations {iterations} isn't divisible by unroll factor {factor.value}"
        )
    if len(arguments) != len(types) + 1:
        raise ConstraintViolation(
            f"wrong number of arguments for region: {len(arguments)} instead of {len(types) + 1}, "
            "that of the operands and the index"
        )
    for number, (argument, each) in enumerate(zip(arguments, types, strict=False)):
        if argument != each:
            raise ConstraintViolation(f"wrong argument type at argument no. {number}")
    results = [result.type for result in operation.results]
    if returned != results or types != results:
        raise ConstraintViolation("type mismatch for result of region")
    index = arguments[-1]
    if isinstance(index, ir.RankedTensorType):
        element = index.element_type
        if index.rank or not isinstance(element, ir.IntegerType) or element.width != 32:
            raise ConstraintViolation("index must have a 32-bit integer rank-0 tensor type")
    elif not isinstance(index, ir.IndexType) and not (
        isinstance(index, ir.IntegerType) and index.is_signless
    ):
        raise ConstraintViolation(f"0-th induction variable has invalid type: '{text_of(index)}'")


def _verify_reduce(operation: ir.Operation) -> None:
    types = [operand.type for operand in operation.operands]
    if not types:
        raise ConstraintViolation("expected 1 or more operands, but found 0")
    for index, each in enumerate(types):
        if not isinstance(each, ir.RankedTensorType):
            raise ConstraintViolation(
                f"operand #{index} must be variadic of tensor of any non-token type values, but "
                f"got '{text_of(each)}'"
            )
    if {*types, operation.results[0].type} != {types[0]}:
        raise ConstraintViolation("requires the same type for all operands and results")
    if reduction_of(operation) == MeshReduction.NONE and len(types) != 1:
        raise ConstraintViolation(
            "ReduceOp must have exactly one operand if the reduction type is none"
        )


def reduction_of(operation: ir.Operation) -> MeshReduction:
    """Return the kind of a reduction."""
    return MeshReduction(operation.attributes["reduction"].params[0].maybe_downcast().value)


_VERIFIERS: dict[str, Verifier] = {
    "mpmd.assign": _verify_assign,
    "mpmd.call": _verify_call,
    "mpmd.for": _verify_for,
    "mpmd.fragment": _verify_fragment,
    "mpmd.fragment_call": _verify_fragment_call,
    "mpmd.named_computation": _verify_named_computation,
    "mpmd.reduce": _verify_reduce,
    "mpmd.transfer": _verify_transfer,
    "mpmd.unassign": _verify_unassign,
}

TRAITS = {name: trait_of(verifier, OPERATIONS) for name, verifier in _VERIFIERS.items()}
"""The trait of each operation that has a verifier."""
