# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Queries of functions and operations of the mpmd dialect."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import MeshTensorType, value_of
from mlir_sdy.mpmd.values import Topology, UserOrigin
from mlir_sdy.traversal import terminator_of

TOPOLOGY = "topology"
"""The attribute of functions with the meshes of the program."""

MESH_SHAPE = "mesh_shape"
"""The attribute of functions that fragments call with their mesh."""

CALL_COUNTER = "call_counter"
"""The attribute of operations with the number of the microbatch."""

RESERVED_BYTES = "reserved_hbm_bytes"
"""The attribute of fragments, and of their functions, with the bytes that others take then."""

ARGUMENT_ATTRIBUTES = "arg_attrs"
"""The attribute of fragments with the attributes of the arguments of their functions."""

RESULT_ATTRIBUTES = "res_attrs"
"""The attribute of fragments with the attributes of the results of their functions."""

REMAT = "remat"
"""The mark of fragments that compute again what a backward fragment needs."""

FRAGMENT = "mpmd.fragment"
FRAGMENT_CALL = "mpmd.fragment_call"
NAMED_COMPUTATION = "mpmd.named_computation"
NAMED_TENSOR = "mpmd.named_tensor"
TRANSFER = "mpmd.transfer"
ASSIGN = "mpmd.assign"
UNASSIGN = "mpmd.unassign"
CALL = "mpmd.call"
FOR = "mpmd.for"


def topology_of(function: ir.Operation) -> Topology | None:
    """Return the topology of a function; None without a valid attribute."""
    attribute = function.attributes.get(TOPOLOGY)
    if attribute is None or getattr(attribute, "attr_name", "") != "mpmd.topology":
        return None
    return value_of(attribute)


def is_mpmd_function(function: ir.Operation) -> bool:
    """Whether an operation is a function with a topology."""
    return function.name == "func.func" and TOPOLOGY in function.attributes


def is_entry_point(function: ir.Operation) -> bool:
    """Whether a function with a topology can be called from outside of the module."""
    visibility = function.attributes.get("sym_visibility")
    is_public = visibility is None or visibility.value == "public"
    return is_public and is_mpmd_function(function)


def body_of(operation: ir.Operation) -> ir.Block:
    """Return the only block of an operation or a function."""
    return operation.regions[0].blocks[0]


def operations_of(block: ir.Block) -> list[ir.Operation]:
    """Return the operations of a block, without those in their regions."""
    return [view.operation for view in block.operations]


def returned_values(operation: ir.Operation) -> list[ir.Value]:
    """Return the values that the body of an operation returns."""
    return list(terminator_of(body_of(operation)).operands)


def mesh_name_of(operation: ir.Operation) -> str:
    """Return the mesh of a fragment or of a call of one."""
    return operation.attributes["mesh_name"].value


def origins_of(operation: ir.Operation) -> tuple[UserOrigin, ...]:
    """Return the origins of a fragment or of a call of one."""
    return value_of(operation.attributes["origin"]).origins


def is_user_fragment(operation: ir.Operation) -> bool:
    """Whether an operation is a fragment that has an origin."""
    return operation.name == FRAGMENT and len(operation.attributes["origin"]) > 0


def integer_of(operation: ir.Operation, name: str) -> int | None:
    """Return the integer of an attribute; None without it."""
    attribute = operation.attributes.get(name)
    return None if attribute is None else ir.IntegerAttr(attribute).value


def mesh_type(value: ir.Value) -> MeshTensorType | None:
    """Return the type of a value on a mesh; None for a value that is on none."""
    found = value.type
    return found if isinstance(found, MeshTensorType) else None


def producer(value: ir.Value, name: str) -> ir.Operation | None:
    """Return the operation that defines a value if its name is `name`, or None."""
    if isinstance(value, ir.BlockArgument):
        return None
    operation = value.owner.operation
    return operation if operation.name == name else None


def users_of(value: ir.Value) -> list[ir.Operation]:
    """Return the users of a value, each once, in the order of the list of uses."""
    found: dict[ir.Operation, None] = {}
    for use in value.uses:
        found[use.owner.operation] = None
    return list(found)


def name_of(operation: ir.Operation) -> str:
    """Return the name of a named computation or a named tensor."""
    if operation.name == NAMED_COMPUTATION:
        return origin_of(operation).name
    return operation.attributes["name"].value


def origin_of(computation: ir.Operation) -> UserOrigin:
    """Return the origin of a named computation."""
    return value_of(computation.attributes["origin"])
