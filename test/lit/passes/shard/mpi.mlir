// RUN: sdy-opt %s -shard-prepare-for-mpi | FileCheck %s
// RUN: sdy-opt %s --stablehlo-to-mpi-pipeline | FileCheck %s --check-prefix=MPI

// CHECK: shard.grid @grid_in_order(shape = 1x2x3)
shard.grid @grid(shape = 2x3)

// CHECK-LABEL: @all_gather
// MPI-LABEL: @all_gather
func.func @all_gather(%a: tensor<2x4xf32>) -> tensor<2x12xf32> {
  // CHECK: %[[FLAT:.*]] = stablehlo.reshape %arg0 : (tensor<2x4xf32>) -> tensor<8xf32>
  // CHECK: shard.all_gather %[[FLAT]] on @grid grid_axes = [1] gather_axis = 0 : tensor<8xf32> -> tensor<24xf32>
  // MPI: mpi.comm_split
  // MPI: mpi.allgather
  %0 = shard.all_gather %a on @grid grid_axes = [1] gather_axis = 1 : tensor<2x4xf32> -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// Upstream would gather in the order of all processes.
// CHECK-LABEL: @in_another_order
func.func @in_another_order(%a: tensor<2xf32>) -> tensor<12xf32> {
  // CHECK: shard.all_gather %{{.*}} on @grid_in_order grid_axes = [2, 1] gather_axis = 0
  %0 = shard.all_gather %a on @grid grid_axes = [1, 0] gather_axis = 0 : tensor<2xf32> -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// CHECK-LABEL: @average_of_short_floats
func.func @average_of_short_floats(%a: tensor<2xbf16>) -> tensor<2xbf16> {
  // CHECK: stablehlo.convert %arg0 : (tensor<2xbf16>) -> tensor<2xf32>
  // CHECK: shard.all_reduce %{{.*}} on @grid grid_axes = [0] : tensor<2xf32> -> tensor<2xf32>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<2xf32>) -> tensor<2xbf16>
  // CHECK: stablehlo.divide
  %0 = shard.all_reduce %a on @grid grid_axes = [0] reduction = average : tensor<2xbf16> -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

// CHECK-LABEL: @alone
// CHECK-NEXT: return %arg0
func.func @alone(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = shard.all_reduce %a on @grid : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @shift
// CHECK-NOT: shard.shift
// MPI-LABEL: @shift
// MPI: mpi.allgather
// MPI-NOT: shard.all
// MPI-NOT: stablehlo.
func.func @shift(%a: tensor<f32>) -> tensor<f32> {
  // Upstream can't gather vectors of one element.
  // CHECK: shard.all_gather %{{.*}} on @grid grid_axes = [1] gather_axis = 0 : tensor<2xf32> -> tensor<6xf32>
  %0 = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
  %1 = shard.shift %0 on @grid grid_axes = [1] shift_axis = 1 offset = 1 rotate : tensor<1xf32> -> tensor<1xf32>
  %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
