// RUN: sdy-opt %s -sdy-sink-func-data-flow-edges | FileCheck %s

sdy.mesh @mesh = <["a"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[CALL:.*]]:3 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{"a"}]>, <@mesh, []>]>}
  // CHECK-NEXT: return %[[CALL]]#0, %[[CALL]]#1
  %0:3 = call @f(%arg0) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, !stablehlo.token)
  %1 = sdy.func_data_flow_edge %0#0 : tensor<8xf32>
  %2 = sdy.func_data_flow_edge %0#1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// A sharding that the edge has lost is lost.
// CHECK-LABEL: func.func private @f
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}
func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
    -> (tensor<8xf32>, tensor<8xf32>, !stablehlo.token) {
  // CHECK-NEXT: %[[CREATE_TOKEN:.*]] = stablehlo.create_token
  // CHECK-NEXT: return %arg0, %arg0, %[[CREATE_TOKEN]]
  %0 = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
  %1 = stablehlo.create_token : !stablehlo.token
  return %0, %0, %1 : tensor<8xf32>, tensor<8xf32>, !stablehlo.token
}
