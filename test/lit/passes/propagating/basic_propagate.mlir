// RUN: sdy-opt %s -sdy-basic-propagate | FileCheck %s
// RUN: sdy-opt %s -sdy-basic-propagate='keep-sharding-rules=true' | FileCheck %s --check-prefix=RULES

sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}
// CHECK-SAME: %arg1: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}
// CHECK-SAME: -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>})
func.func @main(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
    %arg1: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}) -> tensor<8x4xf32> {
  // CHECK: stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>}
  // RULES: sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=4, k=16} reduction={k}>
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  // Dead operations are erased.
  // CHECK-NOT: stablehlo.negate
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  // CHECK: stablehlo.tanh %[[VALUE:[0-9]+]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>}
  %2 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
