// RUN: sdy-opt %s -sdy-sink-data-flow-edges='sink-debug-sharding-origins=true sink-debug-propagation-edge-sharding=true' | FileCheck %s
// RUN: sdy-opt %s -sdy-sink-data-flow-edges='sink-debug-sharding-origins=true' | FileCheck %s --check-prefix=ORIGINS
// RUN: sdy-opt %s -sdy-sink-data-flow-edges | FileCheck %s --check-prefix=NEITHER

sdy.mesh @mesh = <["a"=2, "b"=2]>

// Edges that say nothing have empty entries.
// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: stablehlo.optimization_barrier
  // CHECK-SAME: sdy.block_arg_propagation_edges = []
  // CHECK-SAME: sdy.block_arg_sharding_origins = []
  // CHECK-SAME: sdy.result_propagation_edges = [#sdy.propagation_edges<[]>, #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>]
  // CHECK-SAME: sdy.result_sharding_origins = [{}, {a = "input: 1"}]
  // ORIGINS: stablehlo.optimization_barrier
  // ORIGINS-NOT: propagation_edges
  // ORIGINS-SAME: sdy.result_sharding_origins = [{}, {a = "input: 1"}]
  // NEITHER-NOT: origins
  // NEITHER-NOT: propagation_edges
  %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<8xf32>, tensor<8xf32>
  %1 = sdy.data_flow_edge %0#0 : tensor<8xf32>
  %2 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{"a"}]> {
      sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>,
      sdy.sharding_origins = {a = "input: 1"}} : tensor<8xf32>
  // CHECK: sdy.manual_computation
  // CHECK: } {sdy.block_arg_propagation_edges = [#sdy.propagation_edges<[]>], sdy.block_arg_sharding_origins = [{b = "mc_0_input: 0"}],
  // CHECK-SAME: sdy.result_propagation_edges = [], sdy.result_sharding_origins = []}
  %3 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>]
      manual_axes={"a"} (%arg2: tensor<4xf32>) {
    %4 = sdy.data_flow_edge %arg2 sharding=<@mesh, [{"b"}]>
        {sdy.sharding_origins = {b = "mc_0_input: 0"}} : tensor<4xf32>
    sdy.return %4 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}
