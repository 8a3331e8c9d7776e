// RUN: sdy-opt %s -sdy-partition-pipeline -split-input-file -verify-diagnostics | FileCheck %s

// A global program reads as if one device ran it, which communicates with itself.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @alone
func.func @alone(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-NEXT: return %arg0 : tensor<4x8xf32>
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %5 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.collective_permute"(%0)
      <{source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}>
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "stablehlo.collective_broadcast"(%1) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}>
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "stablehlo.all_gather"(%2)
      <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = []>}>
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @among_several(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<16xf32> {
  // expected-error@+2 {{'stablehlo.all_gather' op communicates between devices, but this program is global}}
  // expected-note@+1 {{use 'sdy.manual_computation' (in JAX, 'shard_map') over the axes of its groups}}
  %0 = "stablehlo.all_gather"(%arg0)
      <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}>
      : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// What a manual computation calls runs on the devices.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    %1 = func.call @outer(%arg1) : (tensor<4xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @outer(%arg0: tensor<4xf32>) -> tensor<8xf32> {
  %0 = call @inner(%arg0) : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @inner(%arg0: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.all_gather
  %0 = "stablehlo.all_gather"(%arg0)
      <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}>
      : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
