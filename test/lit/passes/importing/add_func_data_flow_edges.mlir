// RUN: sdy-opt %s -split-input-file -sdy-add-func-data-flow-edges | FileCheck %s

// Edges between functions.
// CHECK:      sdy.mesh @m = <["p"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: !stablehlo.token) -> tensor<8xf32> {
// CHECK-NEXT: %[[CALL:.*]]:2 = call @g(%arg0, %arg1) : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
// CHECK-NEXT: %[[EDGE:.*]] = sdy.func_data_flow_edge %[[CALL]]#0 : tensor<8xf32>
// CHECK-NEXT: return %[[EDGE]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @g(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"p", ?}]>}, %arg1: !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token) {
// CHECK-NEXT: %[[EDGE:.*]] = sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"p", ?}]>]>} : tensor<8xf32>
// CHECK-NEXT: return %[[EDGE]], %arg1 : tensor<8xf32>, !stablehlo.token
// CHECK-NEXT: }
sdy.mesh @m = <["p"=2]>
func.func @main(%a: tensor<8xf32>, %t: !stablehlo.token) -> tensor<8xf32> {
  %0:2 = call @g(%a, %t) : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
  return %0#0 : tensor<8xf32>
}
func.func private @g(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"p", ?}]>}, %t: !stablehlo.token)
    -> (tensor<8xf32>, !stablehlo.token) {
  return %a, %t : tensor<8xf32>, !stablehlo.token
}
