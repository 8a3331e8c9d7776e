// RUN: sdy-opt %s -shard-to-stablehlo | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline="builtin.module(shard-to-stablehlo{replicas=true})" | FileCheck %s --check-prefix=REPLICAS

// CHECK-NOT: shard.
shard.grid @grid(shape = 2x3)

// CHECK-LABEL: @all_gather
// REPLICAS-LABEL: @all_gather
func.func @all_gather(%a: tensor<2xf32>) -> tensor<6xf32> {
  // CHECK: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>, use_global_device_ids}>
  // REPLICAS: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = -1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>}>
  %0 = shard.all_gather %a on @grid grid_axes = [1] gather_axis = 0 : tensor<2xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: @order_of_axes
func.func @order_of_axes(%a: tensor<2xi8>) -> tensor<2xi32> {
  // CHECK: %[[WIDE:.*]] = stablehlo.convert %arg0 : (tensor<2xi8>) -> tensor<2xi32>
  // CHECK: "stablehlo.all_reduce"(%[[WIDE]]) <{{.*}}replica_groups = dense<{{\[\[}}0, 3, 1, 4, 2, 5]]> : tensor<1x6xi64>
  // CHECK: stablehlo.minimum
  %0 = shard.all_reduce %a on @grid grid_axes = [1, 0] reduction = min : tensor<2xi8> -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// CHECK-LABEL: @average
func.func @average(%a: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[SUM:.*]] = "stablehlo.all_reduce"(%arg0)
  // CHECK: %[[COUNT:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<2xf32>
  // CHECK: stablehlo.divide %[[SUM]], %[[COUNT]]
  %0 = shard.all_reduce %a on @grid grid_axes = [1] reduction = average : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// No axes: each device by itself.
// CHECK-LABEL: @alone
// CHECK-NEXT: return %arg0, %arg0
func.func @alone(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = shard.all_reduce %a on @grid : tensor<2xf32> -> tensor<2xf32>
  %1 = shard.all_to_all %0 on @grid split_axis = 0 concat_axis = 0 : tensor<2xf32> -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @shift
func.func @shift(%a: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: "stablehlo.collective_permute"(%arg0) <{{.*}}source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [3, 4], [4, 5]]>
  // REPLICAS: "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = {{-[0-9]+}}, type = 1>, source_target_pairs
  %0 = shard.shift %a on @grid grid_axes = [1] shift_axis = 1 offset = 1 : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @shift_by_all
// CHECK-NEXT: return %arg0
func.func @shift_by_all(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = shard.shift %a on @grid grid_axes = [1] shift_axis = 1 offset = -3 rotate : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @messages
func.func @messages(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = shard.send %a on @grid grid_axes = [0] destination = [1] : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: "stablehlo.collective_permute"(%arg0) <{{.*}}source_target_pairs = dense<{{\[\[}}0, 3], [1, 4], [2, 5]]>
  %1 = shard.recv %a on @grid grid_axes = [0] source = [0] : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @indices
// CHECK-SAME: -> (tensor<i64>, tensor<i64>, tensor<i64>)
func.func @indices() -> (index, index, index) {
  // CHECK: %[[THREE:.*]] = stablehlo.constant dense<3> : tensor<i64>
  %size = shard.grid_shape @grid axes = [1] : index
  // CHECK: stablehlo.partition_id
  // REPLICAS: stablehlo.replica_id
  %linear = shard.process_linear_index on @grid : index
  // CHECK: stablehlo.constant dense<[0, 1, 2, 0, 1, 2]> : tensor<6xi64>
  %column = shard.process_multi_index on @grid axes = [1] : index
  return %size, %linear, %column : index, index, index
}

// CHECK-LABEL: @sharding_of_an_annotation
func.func @sharding_of_an_annotation(%a: tensor<7xf32>) -> tensor<1xi64> {
  %s = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<7xf32>
  %got = shard.get_sharding %0 : tensor<7xf32> -> !shard.sharding
  %size = shard.shard_shape dims = [7] sharding = %got device = [0, 2] : index
  %number = arith.index_cast %size : index to i64
  // CHECK: stablehlo.constant dense<3> : tensor<1xi64>
  %1 = tensor.from_elements %number : tensor<1xi64>
  return %1 : tensor<1xi64>
}
