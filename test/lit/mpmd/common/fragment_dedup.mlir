// RUN: sdy-opt %s -mpmd-fragment-dedup | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0, %arg0) (%arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %arg1, %arg1
// CHECK-NEXT: mpmd.return %[[V1]], %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>)
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#0
func.func @main(%a: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %a) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4xf32>
    mpmd.return %1, %1 : tensor<4xf32>, tensor<4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  return %0#0, %0#1 : !m1, !m1
}
