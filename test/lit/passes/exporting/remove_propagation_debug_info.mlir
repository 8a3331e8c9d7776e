// RUN: sdy-opt %s -sdy-remove-propagation-debug-info | FileCheck %s

sdy.mesh @mesh = <["a"=2]>

// CHECK-NOT: sharding_origins
// CHECK-NOT: propagation_edges
// CHECK: func.func @main(%arg0: tensor<8xf32> {my.note}) -> tensor<8xf32>
// CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"a"}]> {sdy.sharding_origin_name = "constraint_0"} : tensor<8xf32>
// CHECK-NEXT: stablehlo.optimization_barrier %[[VALUE:[0-9]+]] : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32> {my.note, sdy.sharding_origins = {a = "self"}})
    -> (tensor<8xf32> {sdy.sharding_origins = {a = "input: 0"},
        sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>}) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"a"}]> {sdy.sharding_origin_name = "constraint_0",
      sdy.sharding_origins = {a = "self"}} : tensor<8xf32>
  %1 = stablehlo.optimization_barrier {sdy.block_arg_propagation_edges = [], sdy.result_propagation_edges = [],
      sdy.block_arg_sharding_origins = [], sdy.result_sharding_origins = []} %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
