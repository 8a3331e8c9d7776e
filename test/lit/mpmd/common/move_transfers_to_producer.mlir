// RUN: sdy-opt %s -mpmd-move-transfers-to-producer | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V4:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V4]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.*]] = mpmd.transfer %[[V1]] : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[V1]]) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V4:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V4]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V2]], %[[V0]]
func.func @main(%a: !m1) -> (!m2, !m2) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["g"]> (%0) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  %3 = mpmd.transfer %0 : (!m1) -> !m2
  %4 = mpmd.transfer %a : (!m1) -> !m2
  return %3, %4 : !m2, !m2
}
