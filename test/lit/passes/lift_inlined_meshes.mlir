// RUN: sdy-opt %s -sdy-lift-inlined-meshes | FileCheck %s

// CHECK:      sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: sdy.mesh @maximal_mesh_3 = <["q"=3]>
// CHECK-NEXT: sdy.mesh @maximal_mesh_3_0 = <[], device_ids=[3]>
// CHECK-NEXT: sdy.mesh @mesh_1 = <["y"=4]>
// CHECK-NEXT: func.func
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @maximal_mesh_3 = <["q"=3]>
sdy.mesh @again = <["x"=2]>

// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_3_0, []>}
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_1, [{"y"}]>}
// CHECK-SAME: %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>})
func.func @main(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[3]>, []>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["y"=4]>, [{"y"}]>},
    %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@again, [{?}]>}) {
  return %arg2 : tensor<8xf32>
}
