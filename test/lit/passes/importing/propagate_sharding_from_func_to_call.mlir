// RUN: sdy-opt %s -split-input-file -sdy-propagate-sharding-from-func-to-call | FileCheck %s

// Shardings of calls.
// CHECK:      sdy.mesh @max = <[], device_ids=[0]>
// CHECK-NEXT: sdy.mesh @m = <["y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: !stablehlo.token) {
// CHECK-NEXT: %[[CALL:.*]]:3 = call @f(%arg0, %arg1) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}]>, <@m, []>, <@m, [{?}]>]>} : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token, tensor<8xf32>)
// CHECK-NEXT: %[[CALL_1:.*]] = call @max_only(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CALL_2:.*]]:2 = call @both(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@max, []>, <@m, [{"y"}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[CALL_3:.*]] = call @sharded(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @f(%arg0: tensor<8xf32>, %arg1: !stablehlo.token) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}, !stablehlo.token, tensor<8xf32>) {
// CHECK-NEXT: return %arg0, %arg1, %arg0 : tensor<8xf32>, !stablehlo.token, tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @max_only(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@max, []>}) {
// CHECK-NEXT: return %arg0 : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @both(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@max, []>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) {
// CHECK-NEXT: return %arg0, %arg0 : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @sharded(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) {
// CHECK-NEXT: return %arg0 : tensor<8xf32>
// CHECK-NEXT: }
sdy.mesh @max = <[], device_ids=[0]>
sdy.mesh @m = <["y"=2]>
func.func @main(%a: tensor<8xf32>, %t: !stablehlo.token) {
  %0:3 = call @f(%a, %t) : (tensor<8xf32>, !stablehlo.token)
      -> (tensor<8xf32>, !stablehlo.token, tensor<8xf32>)
  %1 = call @max_only(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %2:2 = call @both(%a) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3 = call @sharded(%a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>]>}
      : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @f(%a: tensor<8xf32>, %t: !stablehlo.token)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}, !stablehlo.token, tensor<8xf32>) {
  return %a, %t, %a : tensor<8xf32>, !stablehlo.token, tensor<8xf32>
}
func.func private @max_only(%a: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@max, []>}) {
  return %a : tensor<8xf32>
}
func.func private @both(%a: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@max, []>},
        tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) {
  return %a, %a : tensor<8xf32>, tensor<8xf32>
}
func.func private @sharded(%a: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) {
  return %a : tensor<8xf32>
}
