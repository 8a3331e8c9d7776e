# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Remarks on replicated computation, if requested (see `mlir_sdy.diagnostics.remarks`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlir_sdy.diagnostics import emit, remark
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, OpShardingRule, TensorMapping, TensorSharding, mesh_of
from pyshardy.irtools.tensor_types import shape_of, shard_elements
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.resharding.cost import Reshard, reshard_bytes
from pyshardy.partition.types.compatible_shardings import CompatibleShardings, Shardings


def remark_on_unsharded_dimensions(
    operation: ir.Operation,
    rule: OpShardingRule | None,
    shardings: Shardings,
    compatible: CompatibleShardings,
    meshes: Mapping[str, Mesh],
) -> None:
    """Report the sharded dimensions that an operation needs unsharded, and the cost of the gather.

    Args:
        operation: the operation.
        rule: the rule by which it is partitioned; None if it has no local form.
        shardings: those of its operands, then results.
        compatible: the compatible shardings in which it is computed.
        meshes: the meshes of the module by name.
    """
    needed = None if rule is None else blocked_factors(operation, rule)
    values = (*operation.operands, *operation.results)
    mappings: Sequence[TensorMapping | None] = [None] * len(values)
    if rule is not None:
        mappings = rule.mappings
    count = len(operation.operands)
    is_reported = False
    columns = zip(values, mappings, shardings, compatible.shardings, strict=True)
    for index, (value, mapping, old, new) in enumerate(columns):
        mesh = None if old is None else mesh_of(old, meshes)
        if index >= count and is_reported:
            break  # replicated results follow from replicated operands
        if old is None or new is None or mesh is None:
            continue
        dims = list(_gathered_dims(old, new, mapping, needed))
        before, after = (
            shard_elements(shape_of(value.type), tuple(each.dim_axes), mesh) for each in (old, new)
        )
        if not dims or after <= before:
            continue
        is_reported = True
        if index < count:
            remark_on_gathering(operation, index, old, new, dims, meshes)
        else:
            _report(operation, f"computes result {index - count} unsharded along {_listed(dims)}")


def remark_on_gathering(
    operation: ir.Operation,
    index: int,
    old: TensorSharding,
    new: TensorSharding,
    dims: Iterable[int],
    meshes: Mapping[str, Mesh],
) -> None:
    """Report the dimensions of an operand that have to be gathered, and the cost of the gather.

    Args:
        operation: the operation.
        index: the position of the operand.
        old: the sharding of the operand.
        new: the sharding that the operation needs.
        dims: the dimensions that are gathered.
        meshes: the meshes of the module by name.
    """
    mesh = mesh_of(old, meshes)
    assert mesh is not None, "a gathered operand is on a mesh"
    value = operation.operands[index]
    sent = reshard_bytes(Reshard.of(value, old.dim_axes, new.dim_axes, mesh))
    _report(
        operation,
        f"needs operand {index} unsharded along {_listed(dims)}: to gather {old}, a device sends "
        f"{sent:,.0f} bytes",
    )


def _report(operation: ir.Operation, message: str) -> None:
    emit(remark(f"'{operation.name}' op {message}", location_of(operation.location)))


def _listed(dims: Iterable[int]) -> str:
    numbers = [str(dim) for dim in sorted(dims)]
    return f"dimension{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}"


def _gathered_dims(
    old: TensorSharding,
    new: TensorSharding,
    mapping: TensorMapping | None,
    needed: frozenset[int] | None,
) -> Iterator[int]:
    for dim, (before, after) in enumerate(zip(old.dim_axes, new.dim_axes, strict=True)):
        factors = () if mapping is None else mapping.dim_mappings[dim].factor_indices
        is_needed = needed is None or not needed.isdisjoint(factors)
        if before and not after and is_needed:
            yield dim
