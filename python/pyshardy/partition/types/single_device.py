# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on one device: operands are moved to it, and results back."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding, are_equivalent, mesh_of
from mlir_sdy.values import (
    argument_shardings,
    get_sharding,
    look_through_barriers,
    rank_of,
    result_shardings,
    result_shardings_of,
    set_result_shardings_of,
)
from pyshardy.irtools.stablehlo_views import function_type_of, target_of
from pyshardy.irtools.walks import has_ancestor
from pyshardy.partition.types.one_mesh import device_mesh_of

_CALLBACKS_ON_SHARDS = frozenset(
    f"xla_ffi_partitioned_python_{platform}_callback" for platform in ("cpu", "gpu")
)
_RUN_BY_ALL = frozenset({"func.call", "stablehlo.case", "stablehlo.if", "stablehlo.while"})


def check_interface(function: ir.Operation, meshes: Mapping[str, Mesh]) -> None:
    """Check that no argument or result of a function is on a single device.

    Raises:
        PassError: an argument or a result is.
    """
    signature = function_type_of(function)
    for kind, types, shardings in (
        ("argument", signature.inputs, argument_shardings(function)),
        ("result", signature.results, result_shardings(function)),
    ):
        for index, (value_type, sharding) in enumerate(zip(types, shardings, strict=True)):
            is_tensor = isinstance(value_type, ir.RankedTensorType)  # and not a token
            if is_tensor and is_on_single_device(sharding, meshes):
                raise PassError(
                    error(
                        f"'func.func' op function {kind} {index} cannot have a single-device "
                        f"sharding attribute, {sharding}: give it to an operation inside",
                        location_of(function.location),
                    )
                )


def is_on_single_device(sharding: TensorSharding | None, meshes: Mapping[str, Mesh]) -> bool:
    """Whether a sharding is on a maximal mesh, which consists of one device."""
    mesh = None if sharding is None else mesh_of(sharding, meshes)
    return mesh is not None and mesh.is_maximal


def run_on_single_device(
    operation: ir.Operation, meshes: Mapping[str, Mesh], cache: AttributeCache
) -> bool:
    """Reshard around an operation with a result on a single device; return whether it has one.

    1. Operands are replicated on the mesh of the function, and then moved to the device.
    2. Results are replicated on the mesh again, and then resharded to the shardings that they had.

    Args:
        operation: the operation.
        meshes: the meshes of the module by name.
        cache: makes attributes.

    Raises:
        PassError: results are on different devices.
    """
    single = single_device_sharding(operation, meshes)
    if single is None:
        return False
    name = device_mesh_of(operation, meshes)
    if name is None:
        return True
    on_device = TensorSharding(single.mesh_or_ref, ())
    _bring_operands(operation, on_device, name, cache)
    _take_results_back(operation, on_device, name, cache, meshes)
    return True


def take_operands_back(
    operation: ir.Operation, meshes: Mapping[str, Mesh], cache: AttributeCache
) -> None:
    """Replicate operands that are on a single device, for an operation on the function's mesh.

    Args:
        operation: an operation without results on a single device.
        meshes: the meshes of the module by name.
        cache: makes attributes.
    """
    name = device_mesh_of(operation, meshes)
    place = ir.InsertionPoint(operation)
    for index, value in enumerate(operation.operands):
        if name is not None and is_on_single_device(
            get_sharding(look_through_barriers(value)), meshes
        ):
            replicated = cache[TensorSharding.fully_closed(rank_of(value.type), name)]
            operation.operands[index] = sdy.reshard(
                value, replicated, loc=operation.location, ip=place
            )


def runs_on_shards(operation: ir.Operation) -> bool:
    """Whether an operation is a JAX callback that each device calls with its local data.

    JAX annotates it with a single device nevertheless.
    """
    return (
        operation.name == "stablehlo.custom_call" and target_of(operation) in _CALLBACKS_ON_SHARDS
    )


def single_device_sharding(
    operation: ir.Operation, meshes: Mapping[str, Mesh]
) -> TensorSharding | None:
    """Return the sharding of a result that is on a single device; None if no result is.

    Raises:
        PassError: results are on different devices, or the operation has a body, or is in a
            manual computation, where values differ between devices.
    """
    if runs_on_shards(operation):
        return None
    results = result_shardings_of(operation)
    singles = [sharding for sharding in results if is_on_single_device(sharding, meshes)]
    if not singles:
        return None
    devices = {mesh.device_ids for each in singles if (mesh := mesh_of(each, meshes)) is not None}
    problem = None
    if len(devices) > 1:
        names = " and ".join(sorted(str(each) for each in set(singles)))
        problem = f"has results on different single devices: {names}"
    elif has_ancestor(operation, "sdy.manual_computation"):
        problem = f"has a result on the single device {singles[0]} in a manual computation"
    elif operation.name in _RUN_BY_ALL:
        problem = (
            f"has a result on the single device {singles[0]}, but all devices run its body: "
            "give this sharding to operations in there, or to one on its result"
        )
    if problem is not None:
        where = location_of(operation.location)
        raise PassError(error(f"'{operation.name}' op {problem}", where))
    return singles[0]


def _bring_operands(
    operation: ir.Operation, on_device: TensorSharding, mesh: str, cache: AttributeCache
) -> None:
    place = ir.InsertionPoint(operation)
    for index, value in enumerate(operation.operands):
        if not isinstance(value.type, ir.RankedTensorType):
            continue
        replicated = TensorSharding.fully_closed(rank_of(value.type), mesh)
        current = get_sharding(look_through_barriers(value)) or replicated
        if current.mesh_or_ref == on_device.mesh_or_ref and are_equivalent(current, on_device):
            continue
        brought = value
        if not (current.is_fully_replicated and current.mesh_or_ref == mesh):
            brought = sdy.reshard(brought, cache[replicated], loc=operation.location, ip=place)
        brought = sdy.reshard(brought, cache[on_device], loc=operation.location, ip=place)
        operation.operands[index] = brought


def _take_results_back(
    operation: ir.Operation,
    on_device: TensorSharding,
    mesh: str,
    cache: AttributeCache,
    meshes: Mapping[str, Mesh],
) -> None:
    results = result_shardings_of(operation)
    place = ir.InsertionPoint.after(operation)
    new: dict[int, TensorSharding] = {}
    for index, value in enumerate(operation.results):
        if not isinstance(value.type, ir.RankedTensorType):
            new[index] = TensorSharding(mesh, ())
            continue
        new[index] = on_device
        replicated = TensorSharding.fully_closed(rank_of(value.type), mesh)
        back = sdy.reshard(value, cache[replicated], loc=operation.location, ip=place)
        value.replace_all_uses_except(back, back.owner.operation)
        if not is_on_single_device(results[index], meshes) and results[index] != replicated:
            last = sdy.reshard(back, cache[results[index]], loc=operation.location, ip=place)
            back.replace_all_uses_except(last, last.owner.operation)
    if new:  # operations with effects only have no results
        set_result_shardings_of(operation, new, cache)
