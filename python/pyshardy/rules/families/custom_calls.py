# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls of no other family, composites, and operations without factors."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule, TensorMapping
from mlir_sdy.on_demand import module_of_mpmd
from mlir_sdy.symbols import enclosing_module
from mlir_sdy.values import DATA_FLOW_OPERATIONS
from pyshardy.irtools.constants import is_one_value
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder, identity_rule, pointwise
from pyshardy.rules.lookup import ShardingRuleLookup
from pyshardy.rules.registry import CUSTOM_CALL, no_sharding_rule, sharding_rule
from pyshardy.rules.signature import OperationSignature


def _is_random_state(operation: ir.Operation) -> bool:
    """Whether some `stablehlo.rng_bit_generator` uses the result."""
    return any(
        use.owner.operation.name == "stablehlo.rng_bit_generator"
        for result in operation.results
        for use in result.uses
    )


@sharding_rule(CUSTOM_CALL, target="X64Combine", reads=(), observes=_is_random_state, if_fits=True)
def x64_combine_rule(op: OperationSignature) -> OpShardingRule | None:
    """Combine 64-bit numbers from their halves; the state of a random generator is replicated.

    Example:
        stablehlo.custom_call @X64Combine(%a, %b)
            : (tensor<4x6xui32>, tensor<4x6xui32>) -> tensor<4x6xui64>
        // ([i, j], [i, j])->([i, j]) {i=4, j=6}
    """
    if not op.observed:
        return pointwise(op)
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.point_factor(dim, size, NEED_REPLICATION, blocked=True)
    return builder.build()


# --- Transfers -----------------------------------------------------------------------------------


def _has_equal_meshes(transfer: ir.Operation) -> bool:
    """Whether the meshes of a transfer are equal, apart from their names."""
    topology = module_of_mpmd("verify").topology_around(transfer)
    meshes = [
        topology.named(each.type.mesh_name) for each in (*transfer.operands, *transfer.results)
    ]
    return meshes[0].mesh == meshes[1].mesh


@sharding_rule("mpmd.transfer", reads=(), observes=_has_equal_meshes)
def transfer_rule(op: OperationSignature) -> OpShardingRule | None:
    """Identity between equal meshes; there is no rule between other meshes."""
    return identity_rule(op.result_shape()) if op.observed else None


# --- Composites -----------------------------------------------------------------------------------


@sharding_rule("stablehlo.composite", reads=("decomposition",), beyond_shardy=True)
def composite_rule(op: OperationSignature) -> OpShardingRule | None:
    """Point-wise if all operations of its decomposition are; otherwise there is no rule.

    1. All tensors of the composite, scalars aside, have one shape.
    2. Its decomposition is one block of operations, each of which is a splat constant, or has a
       rule that relates tensors of that shape dimension by dimension. Scalars may be computed as
       well.

    Example: the rule of `return tanh(multiply(%x, constant<2>))` on `tensor<4x6xf32>` is
    `([i, j])->([i, j]) {i=4, j=6}`; with a transpose or a reduction, there is none.
    """
    shapes = {tensor.shape for tensor in op.tensors if tensor is not None and tensor.rank}
    module = enclosing_module(op.operation)
    if len(shapes) != 1 or not op.results or module is None:
        return None
    symbols = ir.SymbolTable(module)
    name = op.text("decomposition").removeprefix("@")
    if name not in symbols:
        return None
    blocks = symbols[name].operation.regions[0].blocks
    if len(blocks) != 1 or not _is_pointwise(blocks[0], shapes.pop()):
        return None
    return pointwise(op)


_CONSTANTS = frozenset({"chlo.constant", "sdy.constant", "stablehlo.constant"})


def _is_pointwise(body: ir.Block, shape: tuple[int, ...]) -> bool:
    """Whether all operations of a block are point-wise on tensors of `shape`, or on scalars."""
    lookup = ShardingRuleLookup(quiet=True)
    return all(_is_pointwise_operation(view.operation, shape, lookup) for view in body.operations)


def _is_pointwise_operation(
    operation: ir.Operation, shape: tuple[int, ...], lookup: ShardingRuleLookup
) -> bool:
    if operation.name in _CONSTANTS:
        return is_one_value(operation)
    if operation.name == "func.return":
        return True
    # Nested composites are not expanded, since they may be recursive.
    rule = None if operation.name == "stablehlo.composite" else lookup.rule(operation)
    if rule is None:
        return False
    tied, scalar = identity_rule(shape).mappings[0], TensorMapping()
    expected = OpShardingRule(
        shape if tied in rule.mappings else (),
        tuple(tied if mapping.rank else scalar for mapping in rule.operand_mappings),
        tuple(tied if mapping.rank else scalar for mapping in rule.result_mappings),
    )
    return rule == expected


# --- Operations without factors -------------------------------------------------------------------


no_sharding_rule("builtin.module", "func.call", "func.func")

# Their values propagate by data-flow edges, or not at all.
no_sharding_rule(
    *DATA_FLOW_OPERATIONS,
    "sdy.constant",
    "sdy.data_flow_edge",
    "sdy.func_data_flow_edge",
    "sdy.mesh",
    "sdy.propagation_barrier",
    "sdy.reshard",
    "sdy.sharding_group",
)

# They create values, or consume values of the program.
no_sharding_rule(
    "stablehlo.after_all",
    "stablehlo.constant",
    "stablehlo.create_token",
    "stablehlo.get_tuple_element",
    "stablehlo.infeed",
    "stablehlo.iota",
    "stablehlo.outfeed",
    "stablehlo.partition_id",
    "stablehlo.recv",
    "stablehlo.send",
)

# The same for operations about which C++ Shardy warns.
no_sharding_rule(
    "arith.constant",
    "chlo.constant",
    "stablehlo.async_done",
    "stablehlo.async_start",
    "stablehlo.replica_id",
    "stablehlo.tuple",
    beyond_shardy=True,
)

# Their attributes determine the sharding of the result.
no_sharding_rule(
    "sdy.all_gather",
    "sdy.all_reduce",
    "sdy.all_slice",
    "sdy.all_to_all",
    "sdy.collective_permute",
    "sdy.reduce_scatter",
    "sdy.replicated_to_unreduced",
    "sdy.sharded_to_unreduced",
    beyond_shardy=True,
)

for _target in (
    "ragged_all_to_all",  # of local tensors, like `stablehlo.all_to_all`
    "xla_ffi_partitioned_python_cpu_callback",
    "xla_ffi_partitioned_python_gpu_callback",
):
    no_sharding_rule(CUSTOM_CALL, target=_target, beyond_shardy=True)

for _target in (
    "sdy_testonly",
    "tpu_custom_call",
    "xla.debug.Log",
    "xla_ffi_python_cpu_callback",
    "xla_ffi_python_gpu_callback",
    "xla_python_cpu_callback",
    "xla_python_gpu_callback",
):
    no_sharding_rule(CUSTOM_CALL, target=_target)
