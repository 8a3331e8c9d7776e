// RUN: sdy-opt %s --pass-pipeline="builtin.module(convert-sdy-to-shard,func.func(stablehlo-legalize-to-linalg,canonicalize,sharding-propagation{traversal=forward-backward},shard-partition,canonicalize),shard-simplify)" | FileCheck %s

// An sdy program through upstream's own propagation and partitioning, on linalg.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK: shard.grid @mesh(shape = 2x2)
// CHECK-LABEL: @main
// CHECK-SAME: (%arg0: tensor<4x4xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: linalg.matmul
  // CHECK: shard.all_reduce %{{.*}} on @mesh grid_axes = [1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: math.tanh
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
