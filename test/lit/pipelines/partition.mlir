// RUN: sdy-opt %s -sdy-basic-propagation-pipeline -sdy-partition-pipeline | FileCheck %s

// Two layers as Megatron shards them: the first weight by columns, the second by rows. Between them
// nothing is communicated, and one all-reduce over the axis of the model completes the result.

sdy.mesh @mesh = <["data"=2, "model"=2]>

// CHECK-NOT: sdy
// CHECK: func.func @main(%arg0: tensor<4x16xf32>, %arg1: tensor<16x16xf32>,
// CHECK-SAME: %arg2: tensor<16x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg0, %arg1
// CHECK-SAME: (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[DOT]] : tensor<4x16xf32>
// CHECK-NEXT: %[[DOT_1:.*]] = stablehlo.dot_general %[[TANH]], %arg2
// CHECK-SAME: (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = "stablehlo.all_reduce"(%[[DOT_1]])
// CHECK-SAME: replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
// CHECK: return %[[ALL_REDUCE]]
func.func @main(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %arg2: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.tanh %0 : tensor<8x32xf32>
  %2 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [0]
    : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
