# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verifiers of single operations, which do not need the meshes.

They are attached as traits, so that MLIR runs them whenever it verifies: after parsing, between
passes, before printing. Rules that need the meshes are in `symbol_uses`, which runs on modules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from mlir_sdy.attributes import ATTRIBUTE_CLASSES, value_of
from mlir_sdy.host import emit_error, ir
from mlir_sdy.model import PropagationDirection
from mlir_sdy.ods.declarations import OperationDecl
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.traversal import global_type, terminator_of
from mlir_sdy.verify.violation import BINDING, ConstraintViolation, bound_axis

Verifier = Callable[[ir.Operation], None]

_QUANTIZED = re.compile(r"!quant\.\w+<[iu](\d+)\b")

_KINDS: dict[str, type[ir.Attribute]] = {
    "array": ir.ArrayAttr,
    "enum PropagationDirection": ir.IntegerAttr,
    "reference": ir.FlatSymbolRefAttr,
    "string": ir.StringAttr,
    "ui32": ir.IntegerAttr,
}
"""The classes of attributes that verifiers rely on, by the kinds of the declarations."""

VERIFIERS: dict[str, Verifier] = {}
"""The verifier of each operation that has one, by its full name."""


def verifies(name: str) -> Callable[[Verifier], Verifier]:
    """Register a function as the verifier of the operation `name`; see `ConstraintViolation`."""

    def register(verifier: Verifier) -> Verifier:
        VERIFIERS[name] = verifier
        return verifier

    return register


def enclosing_computations(operation: ir.Operation) -> Iterator[ir.Operation]:
    """The manual computations around `operation`, innermost first."""
    parent = operation.parent
    while parent is not None:
        parent = parent.operation
        if parent.name == "sdy.manual_computation":
            yield parent
        parent = parent.parent


def bound_manual_axes(operation: ir.Operation) -> dict[str, ir.Location]:
    """Return the manual axes of all computations around `operation`, with their computations."""
    return {
        name: computation.location
        for computation in enclosing_computations(operation)
        for name in value_of(computation.attributes["manual_axes"]).value
    }


@verifies("sdy.mesh")
def verify_mesh(operation: ir.Operation) -> None:
    """Check that a mesh is directly in a module."""
    parent = operation.parent
    if parent is None or parent.operation.name != "builtin.module":
        raise ConstraintViolation("expects parent op 'builtin.module'")


@verifies("sdy.data_flow_edge")
def verify_data_flow_edge(operation: ir.Operation) -> None:
    """Check that the value has a shape; IRDL can't name the types of values on meshes."""
    value_type = operation.operands[0].type
    if not isinstance(global_type(value_type), ir.ShapedType):
        raise ConstraintViolation(f"'{value_type}' does not satisfy the constraint")


@verifies("sdy.manual_computation")
def verify_manual_computation(operation: ir.Operation) -> None:
    """Check that there is one block, which ends with `sdy.return`, and no axis is bound twice."""
    _verify_body(operation)
    bound = bound_manual_axes(operation)
    for name in value_of(operation.attributes["manual_axes"]).value:
        if name in bound:
            raise ConstraintViolation(bound_axis(name), (bound[name], BINDING))


@verifies("sdy.named_computation")
def verify_named_computation(operation: ir.Operation) -> None:
    """Check that there is one block that ends with an `sdy.return` of the types of the results."""
    _verify_body(operation)
    block = operation.regions[0].blocks[0]
    argument_types = [argument.type for argument in block.arguments]
    operand_types = [operand.type for operand in operation.operands]
    if len(argument_types) != len(operand_types):
        raise ConstraintViolation(
            f"number of block arguments must match the number of operands: {len(argument_types)} "
            f"!= {len(operand_types)}"
        )
    for index, (argument, operand) in enumerate(zip(argument_types, operand_types, strict=True)):
        if argument != operand:
            raise ConstraintViolation(
                f"expected the type of the {index}'th block argument to match the type of the "
                f"corresponding operand: '{argument}' vs '{operand}'"
            )
    returned = [value.type for value in returned_values(operation)]
    results = [result.type for result in operation.results]
    if returned != results:
        raise ConstraintViolation(
            f"inferred type(s) {_quoted(returned)} are incompatible with return type(s) of "
            f"operation {_quoted(results)}",
            consequences=("'sdy.named_computation' op failed to infer returned types",),
        )


def _quoted(types: Iterable[ir.Type]) -> str:
    return ", ".join(f"'{each}'" for each in types)


@verifies("sdy.propagation_barrier")
def verify_propagation_barrier(operation: ir.Operation) -> None:
    """Check that a barrier stops at least one direction."""
    direction = operation.attributes["allowed_direction"].value
    if direction == PropagationDirection.BOTH:
        raise ConstraintViolation(
            "cannot specify `BOTH` as the direction. Not blocking propagation direction makes the "
            "op redundant."
        )


@verifies("sdy.sharding_group")
def verify_sharding_group(operation: ir.Operation) -> None:
    """Check that the number of the group has 64 bits."""
    number = operation.attributes["group_id"]
    signless = ir.IntegerType.get_signless(64, operation.context)
    if not isinstance(number, ir.IntegerAttr) or number.type != signless:
        raise ConstraintViolation(
            "attribute 'group_id' failed to satisfy constraint: 64-bit signless integer attribute, "
            f"got {number}"
        )


@verifies("sdy.constant")
def verify_constant(operation: ir.Operation) -> None:
    """Check that the result has the shape and the elements of the value."""
    value = operation.attributes["value"]
    value_type = getattr(value, "type", None)
    if not isinstance(value_type, ir.RankedTensorType):
        raise ConstraintViolation("expects the elements of a tensor as its 'value'")
    result_type = operation.results[0].type
    if not _holds(result_type, value_type):
        raise ConstraintViolation(
            f"the result is {result_type}, but the value is of type {value_type}"
        )


def _holds(result_type: ir.Type, value_type: ir.RankedTensorType) -> bool:
    """Whether a constant of `value_type` can have the result type, or its quantized form."""
    if result_type == value_type:
        return True
    if not isinstance(result_type, ir.RankedTensorType) or result_type.shape != value_type.shape:
        return False
    quantized = _QUANTIZED.match(str(result_type.element_type))
    return quantized is not None and str(value_type.element_type) == f"i{quantized[1]}"


def returned_values(operation: ir.Operation) -> list[ir.Value]:
    """Return the operands of the `sdy.return` of an operation's body."""
    return list(terminator_of(operation.regions[0].blocks[0]).operands)


def _verify_body(operation: ir.Operation) -> None:
    blocks = list(operation.regions[0].blocks)
    if len(blocks) != 1:
        raise ConstraintViolation(f"expects a region with one block, got {len(blocks)}")
    operations = blocks[0].operations
    count = len(operations)
    if not count or operations[count - 1].operation.name != "sdy.return":
        last = operations[count - 1].operation.name if count else "nothing"
        raise ConstraintViolation(f"expects regions to end with 'sdy.return', found '{last}'")


def attach_verifiers() -> None:
    """Attach the verifiers to the operations of the current context."""
    for name, trait in _TRAITS.items():
        trait.attach(name)


def trait_of(
    verifier: Verifier, operations: Mapping[str, OperationDecl]
) -> type[ir.DynamicOpTrait]:
    """Return a trait with `verifier`; no exception may cross the C++ frames above it."""

    def verify(view: ir.OpView) -> bool:
        operation = view.operation
        if not _has_declared_parts(operation, operations[operation.name]):
            return True  # the check of the declaration, which runs next, reports the error
        try:
            verifier(operation)
        except ConstraintViolation as violation:
            emit_error(violation.diagnostic(operation), operation.location)
            return False
        return True

    methods = {"verify_invariants": staticmethod(verify)}
    return type(verifier.__name__, (ir.DynamicOpTrait,), methods)


def _has_declared_parts(operation: ir.Operation, declaration: OperationDecl) -> bool:
    """Whether attributes and regions exist and have the declared kinds."""
    if len(operation.regions) != len(declaration.regions):
        return False
    is_variadic = any(each.variadic for each in (*declaration.operands, *declaration.results))
    if not is_variadic and (len(operation.operands), len(operation.results)) != (
        len(declaration.operands),
        len(declaration.results),
    ):
        return False
    for attribute in declaration.attributes:
        if attribute.name not in operation.attributes:
            if not attribute.optional:
                return False
        elif attribute.kind.startswith("sdy."):
            expected = ATTRIBUTE_CLASSES[attribute.kind.removeprefix("sdy.")]
            if not isinstance(operation.attributes[attribute.name], expected):
                return False
        elif not isinstance(
            operation.attributes[attribute.name], _KINDS.get(attribute.kind, ir.Attribute)
        ):
            return False
    return True


_TRAITS = {name: trait_of(verifier, OPERATIONS) for name, verifier in VERIFIERS.items()}
