// RUN: sdy-opt %s -sdy-inline-meshes | FileCheck %s
// RUN: sdy-opt %s -sdy-inline-meshes -sdy-lift-inlined-meshes | FileCheck %s --check-prefix=LIFTED

// CHECK-NOT: sdy.mesh @
// LIFTED: sdy.mesh @mesh = <["p"=2], device_ids=[1, 0]>
sdy.mesh @m = <["p"=2], device_ids=[1, 0]>
sdy.mesh @unused = <["q"=2]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<mesh<["p"=2], device_ids=[1, 0]>, [{"p"}p1, {?}]>}
// CHECK-SAME: %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}, {}]>}
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"p"}p1, {?}]>},
                %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  // CHECK: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<["p"=2], device_ids=[1, 0]>, [{}, {}], unreduced=max{"p"}>]>}
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced=max{"p"}>]>} : tensor<8x4xf32>
  // CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "p", size = 2>],
  // CHECK-SAME: device_ids=dense<[1, 0]> : tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = "p">]>
  %1 = "stablehlo.all_reduce"(%0) <{
      replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = "p">]>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %2 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
