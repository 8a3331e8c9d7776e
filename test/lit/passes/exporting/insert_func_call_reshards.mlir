// RUN: sdy-opt %s -sdy-insert-func-call-reshards | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @same = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[CALL:.*]]:3 = call @callee(%arg0)
  // CHECK-SAME: sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{?}]>, <@mesh, [{"y"}]>]>
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %[[CALL]]#1 <@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: %[[RESHARD_1:.*]] = sdy.reshard %[[CALL]]#0 <@mesh, [{"y"}]> : tensor<8xf32>
  // CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %[[RESHARD]]
  // CHECK-NEXT: return %[[RESHARD_1]], %[[NEGATE]], %[[CALL]]#2
  %0:3 = call @callee(%arg0) {sdy.sharding = #sdy.sharding_per_value<[
      <@mesh, [{"y"}]>, <@mesh, [{"x"}]>, <@mesh, [{"y"}]>]>}
    : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %1 = stablehlo.negate %0#1 : tensor<8xf32>
  return %0#0, %1, %0#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

func.func private @callee(%arg0: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>,
        tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  return %arg0, %arg0, %arg0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A mesh of another name is another one, however equal. Results that nobody uses get a reshard, too.
// CHECK-LABEL: func.func private @names
func.func private @names(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[CALL:.*]]:3 = call @callee(%arg0)
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %[[CALL]]#2 <@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: %[[RESHARD_1:.*]] = sdy.reshard %[[CALL]]#0 <@same, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: return %[[RESHARD_1]]
  %0:3 = call @callee(%arg0) {sdy.sharding = #sdy.sharding_per_value<[
      <@same, [{"x"}]>, <@mesh, [{}]>, <@mesh, [{"x"}]>]>}
    : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}
