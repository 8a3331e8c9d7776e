// RUN: sdy-opt %s -mpmd-fragment-dce | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg2: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg2
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]
func.func @main(%a: !m1, %b: !m1) -> !m1 attributes {topology = #topology} {
  %3 = mpmd.fragment<mesh="m1", origin=["g"]> (%a) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %3) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    %2 = stablehlo.tanh %y : tensor<4xf32>
    mpmd.return %1, %2 : tensor<4xf32>, tensor<4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  return %0#0 : !m1
}
