// Meshes of replica groups are merged with those of shardings, device ids and all. C++ Shardy makes
// new ones without device ids.

// RUN: sdy-opt %s -split-input-file -sdy-lift-inlined-meshes | FileCheck %s

// CHECK: sdy.mesh @known = <["x"=2]>
// CHECK: sdy.mesh @mesh = <["x"=2], device_ids=[1, 0]>
// CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @known,
// CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh,
// CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @known,
// CHECK: replica_groups = dense<{{.*}}0, 1
sdy.mesh @known = <["x"=2]>
func.func @main(%a: tensor<8x16xf32>) -> tensor<8x256xf32> {
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 1 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<
      mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>]>,
      axes = [#stablehlo.axis_ref<name = "x">]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids
  } : (tensor<8x16xf32>) -> tensor<8x32xf32>
  %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 1 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<
      mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>],
                             device_ids = dense<[1, 0]> : tensor<2xi64>>,
      axes = [#stablehlo.axis_ref<name = "x">]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids
  } : (tensor<8x32xf32>) -> tensor<8x64xf32>
  %2 = "stablehlo.all_gather"(%1) {all_gather_dim = 1 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<
      mesh = @again, axes = [#stablehlo.axis_ref<name = "x">]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids
  } : (tensor<8x64xf32>) -> tensor<8x128xf32>
  %3 = "stablehlo.all_gather"(%2) {all_gather_dim = 1 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids
  } : (tensor<8x128xf32>) -> tensor<8x256xf32>
  return %3 : tensor<8x256xf32>
}
sdy.mesh @again = <["x"=2]>

// -----

// The name of a mesh that is merged into another one is free for a new one.
// CHECK:      sdy.mesh @first = <["x"=2]>
// CHECK-NEXT: sdy.mesh @mesh = <["y"=4]>
// CHECK-NEXT: func.func @main(
// CHECK-SAME:   %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}
// CHECK-SAME:   %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@first, [{"x"}]>}
sdy.mesh @first = <["x"=2]>
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["y"=4]>, [{"y"}]>},
                %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}
