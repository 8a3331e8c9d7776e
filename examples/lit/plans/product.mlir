// RUN: sdy-opt %s --load-passes=%passes --sdy-propagation-pipeline --sdy-partition-pipeline | FileCheck %s

// The rule says that the operation sums over its inner dimension: an all-reduce, no all-gather.

sdy.mesh @mesh = <["model"=2]>

// CHECK-LABEL: @main
// CHECK-SAME: %[[X:.*]]: tensor<4x4xf32>, %[[Y:.*]]: tensor<4x8xf32>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
                %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> tensor<4x8xf32> {
  // CHECK-NOT: all_gather
  // CHECK: stablehlo.custom_call @my_product(%[[X]], %[[Y]])
  // CHECK: stablehlo.all_reduce
  %0 = stablehlo.custom_call @my_product(%x, %y) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
