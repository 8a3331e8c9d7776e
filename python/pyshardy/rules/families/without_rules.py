# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations without a sharding rule by design, for which there is no warning."""

from __future__ import annotations

from mlir_sdy.values import DATA_FLOW_OPERATIONS
from pyshardy.rules.registry import CUSTOM_CALL, no_sharding_rule

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
