// RUN: sdy-opt %s -mpmd-copy-constants -mpmd-fragment-dce | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m2", origin=["g"]> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[CST:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %arg1, %[[CST]]
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]
func.func @main(%a: !m2) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> () () {
    %1 = stablehlo.constant dense<1.0> : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : () -> !m1
  %2 = mpmd.transfer %0 : (!m1) -> !m2
  %3 = mpmd.fragment<mesh="m2", origin=["g"]> (%a, %2) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m2, !m2) -> !m2
  return %3 : !m2
}
