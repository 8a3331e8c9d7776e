# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for operations of the dialect that need the meshes of the module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from mlir_sdy.attributes import TensorShardingAttr, TensorShardingPerValueAttr, value_of
from mlir_sdy.diagnostics import Part
from mlir_sdy.host import ir
from mlir_sdy.model import (
    Mesh,
    ModelError,
    TensorSharding,
    common_mesh,
    mesh_of,
)
from mlir_sdy.model.collectives import check_unreduced_transition
from mlir_sdy.model.manual_axes import count_manual_axes
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.symbols import enclosing_module
from mlir_sdy.traversal import global_type, named_operations_in
from mlir_sdy.values import (
    COMPUTATIONS,
    argument_shardings,
    get_sharding,
    look_through_barriers,
    result_shardings,
    sharding_attributes,
)
from mlir_sdy.verify.collectives import COLLECTIVES, verify_collective_axes
from mlir_sdy.verify.operations import bound_manual_axes, returned_values
from mlir_sdy.verify.sharding import check_sharding, check_shardings
from mlir_sdy.verify.violation import ConstraintViolation, inside

SymbolUseVerifier = Callable[[ir.Operation, Mapping[str, Mesh]], None]


_INPUT = Part("operand", 0)


def verify_reshard(operation: ir.Operation, meshes: Mapping[str, Mesh]) -> None:
    """Check that the sharding of a constraint or a reshard fits its result type and its operand.

    Unreduced axes can be introduced and removed; the others keep their reduction kind.
    An operand without a sharding, or on another mesh, is compatible with any.

    Raises:
        Violation: it does not.
    """
    sharding = value_of(operation.attributes["sharding"])
    with inside(Part("attribute", "sharding")):
        check_sharding(sharding, operation.results[0].type, meshes, bound_manual_axes(operation))
    source = get_sharding(look_through_barriers(operation.operands[0]))
    if source is None or not (source.unreduced_axes or sharding.unreduced_axes):
        return
    mesh = mesh_of(sharding, meshes)
    if mesh is None or mesh_of(source, meshes) != mesh:
        return
    try:
        check_unreduced_transition(
            source,
            sharding,
            mesh,
            introduced_as=sharding.reduction_kind,
            removed_as=source.reduction_kind,
        )
    except ModelError as error:
        raise ConstraintViolation(str(error)) from None


def verify_manual_computation(operation: ir.Operation, meshes: Mapping[str, Mesh]) -> None:
    """Check that the shardings of a manual computation fit its global and local types.

    For the operands and the arguments of the body, then for the results and the returned values:

    1. There is one sharding, one global and one local type for each value.
    2. Each sharding fits the global type, given the manual axes of enclosing computations.
    3. In each dimension, manual axes come before free axes.
    4. The local size of a dimension is the global one divided by the sizes of the manual axes that
       split it, without a remainder.

    All shardings have a common mesh, which has every manual axis. Functions that the body calls
    have no shardings along manual axes, as if they were inlined.

    Raises:
        Violation: the first rule that is broken.
    """
    manual_axes = value_of(operation.attributes["manual_axes"]).value
    in_shardings = value_of(operation.attributes["in_shardings"]).shardings
    out_shardings = value_of(operation.attributes["out_shardings"]).shardings
    bound = bound_manual_axes(operation)
    body = operation.regions[0].blocks[0]
    for what, entry, shardings, global_values, local_values in (
        ("operand", "in_shardings", in_shardings, operation.operands, body.arguments),
        ("result", "out_shardings", out_shardings, operation.results, returned_values(operation)),
    ):
        global_types = [value.type for value in global_values]
        local_types = [value.type for value in local_values]
        if not (global_types or local_types or shardings):
            continue
        with inside(Part("attribute", entry)):
            check_shardings(shardings, global_types, meshes, bound, what)
        if len(global_types) != len(local_types):
            raise ConstraintViolation(
                f"number of op {what}s and region {what}s must match. Op has "
                f"{len(global_types)} op {what}s and {len(local_types)} region {what}s"
            )
        with inside(Part("attribute", entry)):
            _check_local_types(shardings, global_types, local_types, meshes, manual_axes, what)
    with inside(Part("attribute", "manual_axes")):
        _check_manual_axes(manual_axes, (*in_shardings, *out_shardings), meshes)
    _check_called_functions(operation, manual_axes)


def verify_named_computation(operation: ir.Operation, meshes: Mapping[str, Mesh]) -> None:
    """Check that the shardings of a named computation fit its operands and results.

    Raises:
        Violation: they do not.
    """
    bound = bound_manual_axes(operation)
    for entry, values in (
        ("in_shardings", operation.operands),
        ("out_shardings", operation.results),
    ):
        attribute = operation.attributes.get(entry)
        if attribute is not None:
            types = [value.type for value in values]
            with inside(Part("attribute", entry)):
                check_shardings(value_of(attribute).shardings, types, meshes, bound, entry)


def verify_data_flow_edge(operation: ir.Operation, meshes: Mapping[str, Mesh]) -> None:
    """Check that a data-flow edge is the only user of its owner, and that its sharding fits.

    Raises:
        Violation: it is not, or the sharding does not fit.
    """
    _check_edge(operation)
    owner = operation.operands[0].owner
    if isinstance(owner, ir.OpView | ir.Operation):
        name = owner.operation.name
        if name.startswith("sdy.") and name not in COMPUTATIONS:
            raise ConstraintViolation(
                f"expected input of {operation.name} to not be defined by an SdyDialect op (other "
                "than an sdy.named_computation).",
                (owner.location, f"sdy op defining the input of the {operation.name}"),
                parts=[_INPUT],
            )
    attribute = operation.attributes.get("sharding")
    if attribute is not None:
        bound = bound_manual_axes(operation)
        with inside(Part("attribute", "sharding")):
            check_sharding(value_of(attribute), operation.results[0].type, meshes, bound)


def verify_func_data_flow_edge(operation: ir.Operation, _: Mapping[str, Mesh]) -> None:
    """Check that a function's data-flow edge is on an argument of a function or a result of a call.

    Raises:
        Violation: it doesn't.
    """
    _check_edge(operation)
    owner = operation.operands[0].owner
    if isinstance(owner, ir.Block):
        belongs, expected = owner.owner.operation.name == "func.func", "a block argument of a func"
    else:
        belongs, expected = owner.operation.name == "func.call", "a result of call"
    if not belongs:
        raise ConstraintViolation(
            f"expected operand of {operation.name} to be {expected} op.", parts=[_INPUT]
        )


def _check_edge(operation: ir.Operation) -> None:
    name, value = operation.name, operation.operands[0]
    if not global_type(value.type).has_static_shape:
        raise ConstraintViolation(
            f"expected {name} to have a static-shaped result. type: '{value.type}'", parts=[_INPUT]
        )
    uses = sum(1 for _ in value.uses)
    if uses != 1:
        what = "input" if name == "sdy.data_flow_edge" else "operand"
        message = f"expected {what} of {name} to have a single user, found {uses} uses"
        raise ConstraintViolation(message, parts=[_INPUT])


def _check_local_types(
    shardings: Sequence[TensorSharding],
    global_types: Sequence[ir.Type],
    local_types: Sequence[ir.Type],
    meshes: Mapping[str, Mesh],
    manual_axes: Sequence[str],
    what: str,
) -> None:
    for index, sharding in enumerate(shardings):
        for dim, dim_sharding in enumerate(sharding.dim_shardings):
            leading = count_manual_axes(dim_sharding, manual_axes)
            for position, axis in enumerate(dim_sharding.axes):
                if axis.name in manual_axes and position >= leading:
                    raise ConstraintViolation(
                        f"{what} sharding at index {index} must have all manual axes come before "
                        f"free axes in its dimension sharding at index {dim}. Saw manual axis "
                        f"{axis} after free axis {dim_sharding.axes[position - 1]}"
                    )
        global_type = global_types[index]
        if not isinstance(global_type, ir.ShapedType):
            continue
        mesh = mesh_of(sharding, meshes)
        expected = _local_type(global_type, sharding, mesh, manual_axes, what)
        if expected != local_types[index]:
            raise ConstraintViolation(
                f"{what} shape, corresponding sharding, and region {what} shape at index {index} "
                f"must match. Expected local shape '{expected}', actual local shape "
                f"'{local_types[index]}'"
            )


def _local_type(
    global_type: ir.ShapedType,
    sharding: TensorSharding,
    mesh: Mesh | None,
    manual_axes: Sequence[str],
    what: str,
) -> ir.Type:
    shape: list[int] = []
    for dim, size in enumerate(global_type.shape):
        axes = sharding.dim_shardings[dim].axes if dim < sharding.rank else ()
        manual = [axis for axis in axes if axis.name in manual_axes]
        parts = mesh.axes_size(manual) if mesh is not None and manual else 1
        if not global_type.is_dynamic_dim(dim):
            if size % parts:
                raise ConstraintViolation(
                    f"{what} dimension size {size} is not divisible by the manual axes size "
                    f"{parts} of dimension {dim}"
                )
            size //= parts  # noqa: PLW2901 (the local size of the dimension)
        shape.append(size)
    unknown = ir.Location.unknown(global_type.context)
    return ir.RankedTensorType.get(shape, global_type.element_type, loc=unknown)


def _check_manual_axes(
    manual_axes: Sequence[str],
    shardings: Sequence[TensorSharding],
    meshes: Mapping[str, Mesh],
) -> None:
    if not shardings or not manual_axes:
        return
    written = common_mesh(shardings, meshes)
    if written is None:
        raise ConstraintViolation(
            "all in and out shardings must be bound to the same mesh or an empty mesh."
        )
    mesh = meshes[written] if isinstance(written, str) else written
    for name in manual_axes:
        if not mesh.has_axis(name):
            advice = did_you_mean(name, mesh.axis_names, mark='"')
            raise ConstraintViolation(
                f'unknown manual axis: "{name}" is not an axis of the mesh {mesh}{advice}',
                parts=[Part("text", f'"{name}"')],
            )


def _check_called_functions(computation: ir.Operation, manual_axes: Sequence[str]) -> None:
    """Check that functions called from a manual computation are not sharded by its axes."""
    module = enclosing_module(computation)
    names = _callees(computation)
    functions = None if module is None or not names else ir.SymbolTable(module)
    checked: set[str] = set()
    while names and functions is not None:
        name = names.pop()
        if name in checked or name not in functions:
            continue
        checked.add(name)
        function = functions[name].operation
        for place, sharding in _shardings_in(function):
            for axis in sharding.all_axes():
                if axis.name in manual_axes:
                    raise ConstraintViolation(
                        f'calls @{name}, which is sharded by the manual axis "{axis.name}": inside '
                        "of the computation, a value is the part of one device along this axis",
                        (place.location, f'sharded by "{axis.name}" here'),
                    )
        names += _callees(function)


def _callees(root: ir.Operation) -> list[str]:
    """Return the names of the functions that operations in `root` call."""
    calls = (each for each, name in named_operations_in(root) if name == "func.call")
    return [call.attributes["callee"].value for call in calls]


def _shardings_in(function: ir.Operation) -> Iterator[tuple[ir.Operation, TensorSharding]]:
    """Yield the shardings of a function and its operations, with these."""
    for sharding in (*argument_shardings(function), *result_shardings(function)):
        if sharding is not None:
            yield function, sharding
    for operation, name in named_operations_in(function):
        for attribute in () if name == "func.func" else sharding_attributes(operation):
            if isinstance(attribute, TensorShardingAttr):
                yield operation, attribute.value
            elif isinstance(attribute, TensorShardingPerValueAttr):
                yield from ((operation, sharding) for sharding in attribute.value.shardings)


SYMBOL_USE_VERIFIERS: dict[str, SymbolUseVerifier] = {
    **dict.fromkeys(COLLECTIVES, verify_collective_axes),
    "sdy.data_flow_edge": verify_data_flow_edge,
    "sdy.func_data_flow_edge": verify_func_data_flow_edge,
    "sdy.manual_computation": verify_manual_computation,
    "sdy.named_computation": verify_named_computation,
    "sdy.reshard": verify_reshard,
    "sdy.sharding_constraint": verify_reshard,
}
"""The check of each operation that refers to meshes, by its full name."""
