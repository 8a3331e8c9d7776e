// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(sharding-propagation{traversal=forward-backward},shard-partition,canonicalize),shard-simplify)" | FileCheck %s

// Upstream's passes, on a program of linalg that they are right for.

shard.grid @grid(shape = 2x2)

// CHECK-LABEL: @matmul
// CHECK-SAME: (%arg0: tensor<2x4xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<2x8xf32>) -> tensor<2x8xf32>
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = shard.sharding @grid split_axes = [[0], [1]]
  %t = shard.sharding @grid split_axes = [[1], []]
  %r = shard.sharding @grid split_axes = [[0], []]
  %a0 = shard.shard %a to %s : tensor<4x8xf32>
  %b0 = shard.shard %b to %t : tensor<8x8xf32>
  %c0 = shard.shard %c to %r : tensor<4x8xf32>
  // CHECK: linalg.matmul
  // CHECK: shard.all_reduce %{{.*}} on @grid grid_axes = [1] : tensor<2x8xf32> -> tensor<2x8xf32>
  %0 = linalg.matmul ins(%a0, %b0 : tensor<4x8xf32>, tensor<8x8xf32>) outs(%c0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = shard.shard %0 to %r : tensor<4x8xf32>
  %2 = shard.shard %1 to %r annotate_for_users : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
