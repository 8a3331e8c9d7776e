// RUN: sdy-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: sdy-opt --allow-unregistered-dialect %s | sdy-opt --allow-unregistered-dialect | FileCheck %s
// RUN: sdy-opt --allow-unregistered-dialect %s --mlir-print-op-generic | sdy-opt --allow-unregistered-dialect | FileCheck %s

// The examples of the dialect's documentation, in its spelling.

// CHECK: shard.grid @grid0(shape = 2x2)
shard.grid @grid0(shape = 2x2)
// CHECK: shard.grid @grid1(shape = 4x?)
shard.grid @grid1(shape = 4x?)
// CHECK: shard.grid @grid2(shape = ?x4)
shard.grid @grid2(shape = ?x4)
// CHECK: shard.grid @grid3(shape = ?x?)
shard.grid @grid3(shape = ?x?)
// CHECK: shard.grid @large(shape = 4x8x12)
shard.grid @large(shape = 4x8x12)
// CHECK: shard.grid @long(shape = 10x20x30)
shard.grid @long(shape = 10x20x30)
// CHECK: shard.grid @three(shape = 3)
shard.grid @three(shape = 3)
// CHECK: shard.grid @row(shape = 2x4)
shard.grid @row(shape = 2x4)
// CHECK: shard.grid @grid1d_4(shape = 4)
shard.grid @grid1d_4(shape = 4)

// CHECK-LABEL: @collectives
func.func @collectives(%0: tensor<2x2xi8>, %wide: tensor<2x4xi8>, %rows: tensor<3x2xi8>,
                       %number: tensor<3x4xf32>, %square: tensor<2x2xf32>, %vector: tensor<2xi8>) {
  // CHECK: shard.all_gather %{{.*}} on @grid0 grid_axes = [1] gather_axis = 1 : tensor<2x2xi8> -> tensor<2x4xi8>
  %1 = shard.all_gather %0 on @grid0 grid_axes = [1] gather_axis = 1
    : tensor<2x2xi8> -> tensor<2x4xi8>
  // CHECK: shard.all_reduce %{{.*}} on @grid0 grid_axes = [1, 0] reduction = max : tensor<3x4xf32> -> tensor<3x4xf64>
  %2 = shard.all_reduce %number on @grid0 grid_axes = [1, 0] reduction = <max>
    : tensor<3x4xf32> -> tensor<3x4xf64>
  // CHECK: shard.all_slice %{{.*}} on @grid0 grid_axes = [1] slice_axis = 1 : tensor<2x4xi8> -> tensor<2x2xi8>
  %3 = shard.all_slice %wide on @grid0 grid_axes = [1] slice_axis = 1
    : tensor<2x4xi8> -> tensor<2x2xi8>
  // A size that isn't known afterwards may be split in any way.
  // CHECK: shard.all_to_all %{{.*}} on @three grid_axes = [0] split_axis = 1 concat_axis = 0 : tensor<3x2xi8> -> tensor<9x?xi8>
  %unknown = shard.all_to_all %rows on @three grid_axes = [0]
      split_axis = 1 concat_axis = 0 : tensor<3x2xi8> -> tensor<9x?xi8>
  // CHECK: shard.all_to_all %{{.*}} on @three grid_axes = [0] split_axis = 0 concat_axis = 0 : tensor<3x2xi8> -> tensor<3x2xi8>
  %4 = shard.all_to_all %rows on @three grid_axes = [0]
    split_axis = 0 concat_axis = 0
    : tensor<3x2xi8> -> tensor<3x2xi8>
  // CHECK: shard.broadcast %{{.*}} on @grid0 grid_axes = [0] root = [0] : (tensor<2xi8>) -> tensor<2xi8>
  %5 = shard.broadcast %vector on @grid0
    grid_axes = [0]
    root = [0]
    : (tensor<2xi8>) -> tensor<2xi8>
  // CHECK: shard.gather %{{.*}} on @grid0 grid_axes = [1] gather_axis = 1 root = [1] : (tensor<2x2xi8>) -> tensor<2x4xi8>
  %6 = shard.gather %0 on @grid0 grid_axes = [1]
    gather_axis = 1 root = [1]
    : (tensor<2x2xi8>) -> tensor<2x4xi8>
  // CHECK: shard.reduce %{{.*}} on @grid0 grid_axes = [1, 0] reduction = max root = [1, 0] : (tensor<3x4xf32>) -> tensor<3x4xf64>
  %7 = shard.reduce %number on @grid0 grid_axes = [1, 0]
    reduction = <max> root = [1, 0]
    : (tensor<3x4xf32>) -> tensor<3x4xf64>
  // CHECK: shard.reduce_scatter %{{.*}} on @grid0 grid_axes = [1] reduction = max scatter_dim = 0 : tensor<2x2xf32> -> tensor<1x2xf64>
  %8 = shard.reduce_scatter %square on @grid0 grid_axes = [1]
    reduction = <max> scatter_axis = 0
    : tensor<2x2xf32> -> tensor<1x2xf64>
  // CHECK: shard.scatter %{{.*}} on @grid0 grid_axes = [0] scatter_dim = 0 root = [1] : (tensor<2x2xi8>) -> tensor<1x2xi8>
  %9 = shard.scatter %0 on @grid0 grid_axes = [0]
    scatter_axis = 0
    root = [1]
    : (tensor<2x2xi8>) -> tensor<1x2xi8>
  // CHECK: shard.shift %{{.*}} on @row grid_axes = [1] shift_axis = 1 offset = 2 rotate : tensor<2xi8> -> tensor<2xi8>
  %10 = shard.shift %vector on @row grid_axes = [1]
    shift_axis = 1 offset = 2 rotate
    : tensor<2xi8> -> tensor<2xi8>
  // CHECK: shard.send %{{.*}} on @grid0 grid_axes = [0] destination = [1] : (tensor<2xi8>) -> tensor<2xi8>
  %11 = shard.send %vector on @grid0 grid_axes = [0] destination = [1]
    : (tensor<2xi8>) -> tensor<2xi8>
  // CHECK: shard.recv %{{.*}} on @grid0 grid_axes = [0] source = [0] : (tensor<2xi8>) -> tensor<2xi8>
  %12 = shard.recv %vector on @grid0 grid_axes = [0] source = [0]
    : (tensor<2xi8>) -> tensor<2xi8>
  // CHECK: shard.update_halo %{{.*}} on @grid0 split_axes = {{\[\[}}0], [1]] halo_sizes = [1, 0, 0, 1] : tensor<2x4xi8>
  %13 = shard.update_halo %wide on @grid0 split_axes = [[0], [1]] halo_sizes = [1, 0, 0, 1]
    : tensor<2x4xi8>
  return
}

// CHECK-LABEL: @queries
func.func @queries() -> (index, index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  // CHECK: %[[DOWN:.*]], %[[UP:.*]] = shard.neighbors_linear_indices on @long[%c1, %c2, %c3] split_axes = [1] : index, index
  %idx = shard.neighbors_linear_indices on @long[%c1, %c2, %c3] split_axes = [1] : index
  // CHECK: shard.process_linear_index on @long : index
  %linear = shard.process_linear_index on @long : index
  // CHECK: shard.process_multi_index on @long axes = [2, 0] : index, index
  %multi:2 = shard.process_multi_index on @long axes = [2, 0] : index, index
  // CHECK: shard.grid_shape @long axes = [1] : index
  %size = shard.grid_shape @long axes = [1] : index
  // CHECK: return %[[DOWN]], %[[UP]]
  return %idx, %idx#1 : index, index
}

// CHECK-LABEL: @shardings
func.func @shardings(%arg0: tensor<4x8xf32>, %arg1: tensor<4x14xf32>, %halo: i64) {
  // CHECK: shard.sharding @large split_axes = {{\[\[}}]] : !shard.sharding
  %sharding0 = shard.sharding @large split_axes = [[]]
  // CHECK: shard.sharding @large split_axes = {{\[\[}}0]] : !shard.sharding
  %sharding1 = shard.sharding @large split_axes = [[0]]
  %sharded0 = shard.shard %arg0 to %sharding1 : tensor<4x8xf32>
  // CHECK: shard.sharding @large split_axes = {{\[\[}}0]] halo_sizes = [1, 2] : !shard.sharding
  %halo_sharding = shard.sharding @large split_axes = [[0]] halo_sizes = [1, 2]
  %sharded1 = shard.shard %arg0 to %halo_sharding : tensor<4x8xf32>
  // CHECK: shard.sharding @grid1d_4 split_axes = {{\[\[}}], [0]] sharded_dims_offsets = [0, 2, 5, 9, 14] : !shard.sharding
  %sharding4 = shard.sharding @grid1d_4 split_axes = [[], [0]] sharded_dims_offsets = [0, 2, 5, 9, 14]
  %sharded2 = shard.shard %arg1 to %sharding4 : tensor<4x14xf32>
  // CHECK: halo_sizes = [%{{.*}}, 2] : !shard.sharding
  %dynamic = shard.sharding @large split_axes = [[0]] halo_sizes = [%halo, 2] : !shard.sharding
  // CHECK: shard.get_sharding %{{.*}} : tensor<4x14xf32> -> !shard.sharding
  %got = shard.get_sharding %sharded2 : tensor<4x14xf32> -> !shard.sharding
  // CHECK: shard.shard_shape dims = [4, 14] sharding = %{{.*}} device = [3] : index, index
  %shape:2 = shard.shard_shape dims = [4, 14] sharding = %got device = [3] : index, index
  return
}

// CHECK-LABEL: @both_result_and_multi_operands_annotated
func.func @both_result_and_multi_operands_annotated(%arg0 : tensor<4x8xf32>) {
  %sharding = shard.sharding @large split_axes = [[0]] : !shard.sharding
  // CHECK: %[[A:.*]] = shard.shard %arg0 to %{{.*}} : tensor<4x8xf32>
  %0 = shard.shard %arg0 to %sharding : tensor<4x8xf32>
  %sharding1 = shard.sharding @large split_axes = [[1]] : !shard.sharding
  // CHECK: shard.shard %[[A]] to %{{.*}} annotate_for_users : tensor<4x8xf32>
  %1 = shard.shard %0 to %sharding1 annotate_for_users : tensor<4x8xf32>
  %sharding2 = shard.sharding @large split_axes = [[2]] : !shard.sharding
  // CHECK: shard.shard %[[A]] to %{{.*}} annotate_for_users : tensor<4x8xf32>
  %2 = shard.shard %0 to %sharding2 annotate_for_users : tensor<4x8xf32>
  return
}

// CHECK-LABEL: @older_attributes
func.func @older_attributes(%a: tensor<4xf32>) {
  // CHECK: shard.all_reduce %arg0 on @grid0 grid_axes = [0] reduction = bitwise_or
  %0 = "shard.all_reduce"(%a) {grid = @grid0, grid_axes = array<i16: 0>,
    reduction = #shard.partial<bitwise_or>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: shard.scatter %arg0 on @grid0 grid_axes = [0] scatter_dim = 0 root = [1]
  %1 = "shard.scatter"(%a) <{grid = @grid0, grid_axes = array<i16: 0>, root = array<i64: 1>, scatter_axis = 0 : index}> : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: "test.holder"() {axes = #shard<axisarray{{\[\[}}0], [1]]>} : () -> ()
  "test.holder"() {axes = #shard.axisarray<[[0], [1]]>} : () -> ()
  // CHECK: "test.holder"() {text = "reduction = <max> scatter_axis = 0 #shard.partial<max>"}
  "test.holder"() {text = "reduction = <max> scatter_axis = 0 #shard.partial<max>"} : () -> ()
  return
}
