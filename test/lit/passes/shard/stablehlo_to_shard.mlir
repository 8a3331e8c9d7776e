// RUN: sdy-opt %s -stablehlo-to-shard | FileCheck %s
// RUN: sdy-opt %s -stablehlo-to-shard -shard-to-stablehlo | FileCheck %s --check-prefix=AGAIN

// The groups are along 0 to 1 and 0 to 4 of eight devices: a grid with axes for both.

// CHECK: shard.grid @grid(shape = 2x2x2)

// CHECK-LABEL: @collectives
// AGAIN-LABEL: @collectives
func.func @collectives(%a: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<8xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xi1>) {
  // CHECK: shard.all_gather %arg0 on @grid grid_axes = [0] gather_axis = 0 : tensor<4xf32> -> tensor<8xf32>
  // AGAIN: all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids,
    replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK: shard.all_reduce %arg0 on @grid grid_axes = [0, 2] reduction = product : tensor<4xf32> -> tensor<4xf32>
  // AGAIN: replica_groups = dense<{{\[\[}}0, 1, 4, 5], [2, 3, 6, 7]]>
  %1 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.multiply %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids,
    replica_groups = dense<[[0, 4, 1, 5], [2, 6, 3, 7]]> : tensor<2x4xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: shard.reduce_scatter %arg0 on @grid grid_axes = [2] reduction = max scatter_dim = 0 : tensor<4xf32> -> tensor<2xf32>
  %2 = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids, scatter_dimension = 0 : i64,
    replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>} : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: shard.all_to_all %arg0 on @grid grid_axes = [2] split_axis = 0 concat_axis = 0 : tensor<4xf32> -> tensor<4xf32>
  %3 = "stablehlo.all_to_all"(%a) {channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>,
    split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
    replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  // StableHLO takes "or" for a sum of booleans.
  // CHECK: shard.all_reduce %arg1 on @grid grid_axes = [2] reduction = bitwise_or
  %4 = "stablehlo.all_reduce"(%b) ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = stablehlo.add %x, %y : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, use_global_device_ids,
    replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>} : (tensor<4xi1>) -> tensor<4xi1>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: @permutation
func.func @permutation(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[ALL:.*]] = shard.all_gather %{{.*}} on @grid grid_axes = [2] gather_axis = 0 : tensor<1x4xf32> -> tensor<2x4xf32>
  // CHECK: stablehlo.dynamic_slice %[[ALL]]
  // CHECK: stablehlo.select
  %0 = "stablehlo.collective_permute"(%a) {channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>,
    source_target_pairs = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @id
func.func @id() -> tensor<ui32> {
  // CHECK: %[[I:.*]] = shard.process_linear_index on @grid : index
  // CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
  // CHECK: %[[T:.*]] = tensor.from_elements %[[N]] : tensor<i32>
  // CHECK: stablehlo.convert %[[T]] : (tensor<i32>) -> tensor<ui32>
  // AGAIN: stablehlo.partition_id
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}
