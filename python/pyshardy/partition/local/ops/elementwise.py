# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local forms of elementwise operations, and of others without communication."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.values import get_sharding
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.local.registry import CONVERSIONS, RetypeOnly, converts
from pyshardy.rules.families.broadcast import BROADCASTING_OPERATIONS
from pyshardy.rules.families.pointwise import POINTWISE_BEYOND_SHARDY, POINTWISE_OPERATIONS

_SAME_ON_SHARDS = (
    *POINTWISE_OPERATIONS,
    *POINTWISE_BEYOND_SHARDY,
    *BROADCASTING_OPERATIONS,
    "chlo.ragged_dot",
    "func.call",
    "func.return",
    "stablehlo.batch_norm_inference",
    "stablehlo.bitcast_convert",
    "stablehlo.broadcast_in_dim",
    "stablehlo.case",
    "stablehlo.cholesky",
    "stablehlo.clamp",
    "stablehlo.concatenate",
    "stablehlo.custom_call",
    "stablehlo.dot",
    "stablehlo.dot_general",
    "stablehlo.einsum",
    "stablehlo.fft",
    "stablehlo.if",
    "stablehlo.map",
    "stablehlo.optimization_barrier",
    "stablehlo.reduce_window",
    "stablehlo.reshape",
    "stablehlo.return",
    "stablehlo.reverse",
    "stablehlo.select",
    "stablehlo.select_and_scatter",
    "stablehlo.sort",
    "stablehlo.torch_index_select",
    "stablehlo.transpose",
    "stablehlo.triangular_solve",
    "stablehlo.unary_einsum",
    "stablehlo.uniform_dequantize",
    "stablehlo.uniform_quantize",
    "stablehlo.while",
)
"""Operations that are valid on shards as they are, if the shardings are compatible and no blocked
factor (see `blocked_factors`) is sharded.
"""

CONVERSIONS.update(dict.fromkeys(_SAME_ON_SHARDS, RetypeOnly()))


@converts("stablehlo.constant", "sdy.constant")
def convert_constant(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert a constant: a shard of a splat is a smaller constant, any other one a slice."""
    literal = operation.attributes["value"]
    result = operation.results[0]
    local_type = ir.RankedTensorType(result.type)
    # The elements of a quantized constant are its storage integers.
    stored = ir.RankedTensorType(literal.type)
    if local_type.shape == stored.shape:
        value = literal
    elif isinstance(literal, ir.DenseElementsAttr) and literal.is_splat:
        stored_locally = ir.RankedTensorType.get(local_type.shape, stored.element_type)
        value = ir.DenseElementsAttr.get_splat(stored_locally, literal.get_splat_value())
    else:
        sharding = get_sharding(result)
        assert sharding is not None, "only the type of a sharded value is another one locally"
        type_ = ir.RankedTensorType.get(stored.shape, local_type.element_type)
        whole = builder.create("stablehlo.constant", (), (type_,), {"value": literal}).result
        mesh = builder.mesh_of(sharding)
        result.replace_all_uses_with(builder.slice_shard(whole, mesh, sharding.dim_axes))
        operation.erase()
        return
    constant = builder.create("stablehlo.constant", (), (local_type,), {"value": value})
    result.replace_all_uses_with(constant.result)
    operation.erase()


@converts("stablehlo.iota")
def convert_iota(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert an iota: along a sharded dimension, shards begin at the offset of the device."""
    result = operation.results[0]
    sharding = get_sharding(result)
    dim: int = operation.attributes["iota_dimension"].value
    if sharding is None or not sharding.dim_shardings[dim].axes:
        return
    mesh = builder.mesh_of(sharding)
    local_type = ir.RankedTensorType(result.type)
    axes = sharding.dim_shardings[dim].axes
    offset = builder.offset(mesh, axes, local_type.shape[dim])
    scalar = ir.RankedTensorType.get([], local_type.element_type)
    offset = builder.create("stablehlo.convert", (offset,), (scalar,)).result
    none = ir.DenseI64ArrayAttr.get([])
    spread = builder.create(
        "stablehlo.broadcast_in_dim", (offset,), (local_type,), {"broadcast_dimensions": none}
    ).result
    iota = builder.create(
        "stablehlo.iota",
        (),
        (local_type,),
        {"iota_dimension": operation.attributes["iota_dimension"]},
    ).result
    moved = builder.create("stablehlo.add", (iota, spread), (local_type,)).result
    result.replace_all_uses_with(moved)
    operation.erase()


@converts("sdy.propagation_barrier", "sdy.sharding_constraint")
def convert_identity(operation: ir.Operation, _: LocalBuilder) -> None:
    """Replace an operation that only affects shardings by its operand."""
    operation.results[0].replace_all_uses_with(operation.operands[0])
    operation.erase()


@converts("sdy.sharding_group")
def convert_sharding_group(operation: ir.Operation, _: LocalBuilder) -> None:
    """Erase the membership in a sharding group."""
    operation.erase()


@converts("sdy.manual_computation", "sdy.named_computation")
def convert_computation(operation: ir.Operation, _: LocalBuilder) -> None:
    """Inline the body of a manual computation, which is a local program already."""
    block = operation.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, operation.operands, strict=True):
        argument.replace_all_uses_with(operand)
    body = [view.operation for view in block.operations]
    for inner in body[:-1]:
        inner.move_before(operation)
    for result, returned in zip(operation.results, body[-1].operands, strict=True):
        result.replace_all_uses_with(returned)
    operation.erase()
