# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-update-non-divisible-input-output-shardings`: make inputs and outputs divide evenly.

These are the arguments and results of functions, the results of calls, and the operands and
results of manual computations. For the operands and results inside of the body, the local shape
must be divisible by the axes that are not manual. Values of dynamic shape are skipped.

Each such argument and result of a public function is warned about: its value is held, and often
computed, by more devices than its sharding says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    AxisRef,
    DimensionSharding,
    Mesh,
    TensorSharding,
    dividing_axes,
    mesh_of,
)
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import global_type
from mlir_sdy.values import (
    argument_shardings,
    body_argument_shardings,
    result_shardings,
    result_shardings_of,
    set_argument_shardings,
    set_body_argument_shardings,
    set_result_shardings,
    set_result_shardings_of,
)
from pyshardy.irtools.analyses import OF_INTERFACE, Changes
from pyshardy.irtools.functions import functions_of, has_body, has_static_shape, is_private
from pyshardy.irtools.stablehlo_views import callee_of, function_type_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help

_WITH_BODY = frozenset({"mpmd.fragment", "sdy.manual_computation"})
_WITH_INPUTS_OR_OUTPUTS = _WITH_BODY | {"func.call", "mpmd.transfer"}


@register_pass("sdy-update-non-divisible-input-output-shardings", release="0.10.2")
def update_non_divisible_input_output_shardings(
    module: ir.Module, *, public_functions_only: Annotated[bool, Help(release="pyshardy")] = False
) -> Changes:
    """Shorten shardings of inputs and outputs that are not divisible.

    Makes the shardings of function arguments and results, call results, operands and results of
    manual computations and fragments, and transfers split each dimension evenly. A dimension that is not split evenly keeps the
    longest prefix of its axes that divides it, with a sub-axis at the end if necessary, and loses
    its priority.

    On a mesh `<["x"=6, "y"=10]>`

    ```mlir
    %a: tensor<15xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}
    ```

    becomes

    ```mlir
    %a: tensor<15xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}]>}
    ```

    Options:
        public_functions_only: whether to skip private functions and their calls, since they are not
            inputs or outputs of the program.
    """
    meshes, cache = meshes_of(module), AttributeCache(module.context)
    functions = functions_of(module)
    kept = {symbol_name(each) for each in functions if public_functions_only and is_private(each)}
    for function in functions:
        for operation in operations_named(_WITH_INPUTS_OR_OUTPUTS, function):
            if operation.name != "func.call" or callee_of(operation) not in kept:
                trim_shardings_of(operation, meshes, cache)
        if symbol_name(function) in kept:
            continue
        function_type = function_type_of(function)
        declared = argument_shardings(function)
        changed = _changed(declared, function_type.inputs, meshes)
        if changed:
            _warn(function, "argument", declared, changed, function_type.inputs, meshes)
            set_argument_shardings(function, changed, cache)
        declared = result_shardings(function)
        changed = _changed(declared, function_type.results, meshes)
        if changed:
            _warn(function, "result", declared, changed, function_type.results, meshes)
            set_result_shardings(function, changed, cache)
    return Changes(stale=OF_INTERFACE)


def _warn(
    function: ir.Operation,
    kind: str,
    declared: Sequence[TensorSharding | None],
    changed: Mapping[int, TensorSharding],
    types: Sequence[ir.Type],
    meshes: Mapping[str, Mesh],
) -> None:
    """Warn about the axes that arguments or results of a public function lose."""
    if is_private(function):
        return
    for index, new in changed.items():
        old = declared[index]
        mesh = None if old is None else mesh_of(old, meshes)
        if old is None or mesh is None:
            continue
        place = function.location
        if kind == "argument" and has_body(function):
            place = function.regions[0].blocks[0].arguments[index].location
        for dim, size in enumerate(global_type(types[index]).shape):
            before, after = old.dim_axes[dim], new.dim_axes[dim]
            if before == after:
                continue
            instead = f"sharded by {_listed(after)} instead" if after else "left unsharded"
            message = (
                f"{kind} {index} of @{symbol_name(function)}: {mesh.axes_size(before)} shards "
                f"along {_listed(before)} don't divide dimension {dim} of size {size} evenly, so "
                f"it is {instead}"
            )
            emit(warning(message, location_of(place)))


def _listed(axes: Iterable[AxisRef]) -> str:
    return "{" + ", ".join(map(str, axes)) + "}"


def trim_shardings_of(
    operation: ir.Operation, meshes: Mapping[str, Mesh], cache: AttributeCache
) -> None:
    """Remove the axes from shardings of an operation that don't divide their dimensions."""
    if operation.name in _WITH_BODY:
        local_types = [value.type for value in operation.regions[0].blocks[0].arguments]
        changed = _changed(body_argument_shardings(operation), local_types, meshes)
        if changed:
            set_body_argument_shardings(operation, changed, cache)
    types = [result.type for result in operation.results]
    changed = _changed(result_shardings_of(operation), types, meshes)
    if changed:
        set_result_shardings_of(operation, changed, cache)


def _changed(
    shardings: Sequence[TensorSharding | None],
    types: Iterable[ir.Type],
    meshes: Mapping[str, Mesh],
) -> dict[int, TensorSharding]:
    """Return the new shardings, by index, of values whose own divides them unevenly."""
    changed: dict[int, TensorSharding] = {}
    for index, (sharding, value_type) in enumerate(zip(shardings, types, strict=False)):
        if sharding is None or sharding.is_fully_replicated:
            continue
        mesh = mesh_of(sharding, meshes)
        if mesh is None or not has_static_shape(value_type):
            continue
        shape = tuple(global_type(value_type).shape)
        if not sharding.divides(shape, mesh):
            changed[index] = _dividing(sharding, shape, mesh)
    return changed


def _dividing(sharding: TensorSharding, shape: Sequence[int], mesh: Mesh) -> TensorSharding:
    """Return a sharding that divides `shape`: dimensions that change lose their priority."""
    return sharding.with_dims(
        tuple(
            dim
            if size % dim.sharded_size(mesh) == 0
            else DimensionSharding(dividing_axes(dim.axes, size, mesh), dim.is_closed)
            for dim, size in zip(sharding.dim_shardings, shape, strict=True)
        )
    )
