// RUN: sdy-opt %s -mpmd-absorb-inferred-fragments=absorb-on-entry-point-function=true | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @both_sides(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = stablehlo.tanh %[[V2]]
// CHECK-NEXT: mpmd.return %[[V3]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]
func.func @both_sides(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=[]> (%a) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%0) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  %3 = mpmd.fragment<mesh="m1", origin=[]> (%2) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  return %3 : !m1
}
