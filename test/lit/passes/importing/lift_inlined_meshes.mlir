// RUN: sdy-opt %s -split-input-file -sdy-lift-inlined-meshes | FileCheck %s

// Equal meshes and fresh names.
// CHECK:      sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
// CHECK-NEXT: sdy.mesh @maximal_mesh_3 = <["q"=3]> {stablehlo.mesh = {axes = [{name = "q", size = 3 : i64}]}}
// CHECK-NEXT: sdy.mesh @mesh_1 = <["w"=2]> {stablehlo.mesh = {axes = [{name = "w", size = 2 : i64}]}}
// CHECK-NEXT: func.func @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_3_0, []>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"x"}]>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_3, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_4, [{"z"}]>}) {
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg0 <@empty_mesh_5, [{}]> : tensor<8xf32>
// CHECK-NEXT: %[[CONSTRAINT_1:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: return %[[CONSTRAINT_1]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: sdy.mesh @last = <["u"=2]> {stablehlo.mesh = {axes = [{name = "u", size = 2 : i64}]}}
// CHECK-NEXT: sdy.mesh @maximal_mesh_3_0 = <[], device_ids=[3]> {stablehlo.mesh = {axes = [], device_ids = dense<3> : tensor<1xi64>}}
// CHECK-NEXT: sdy.mesh @mesh_2 = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
// CHECK-NEXT: sdy.mesh @mesh_3 = <["y"=4]> {stablehlo.mesh = {axes = [{name = "y", size = 4 : i64}]}}
// CHECK-NEXT: sdy.mesh @mesh_4 = <["z"=4]> {stablehlo.mesh = {axes = [{name = "z", size = 4 : i64}]}}
// CHECK-NEXT: sdy.mesh @empty_mesh_5 = <[]> {stablehlo.mesh = {axes = []}}
// CHECK-NEXT: func.func @empty_mesh(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: return %arg0 : tensor<8xf32>
// CHECK-NEXT: }
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @maximal_mesh_3 = <["q"=3]>
sdy.mesh @mesh_1 = <["w"=2]>
func.func @f(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[3]>, []>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=4]>, [{"x"}]>},
    %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["y"=4]>, [{"y"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=4]>, [{"z"}]>}) {
  %0 = sdy.sharding_constraint %a <mesh<[]>, [{}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %a <@mesh_x, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
sdy.mesh @mesh_x = <["x"=2]>
sdy.mesh @last = <["u"=2]>
func.func @empty_mesh(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
