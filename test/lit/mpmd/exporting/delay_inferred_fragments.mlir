// RUN: sdy-opt %s -mpmd-delay-inferred-fragments | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!host = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%arg0) (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[V2]], %[[V0]]) (%arg1: tensor<4x8xf32>, %arg2: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.add %arg1, %arg2
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V3]]
func.func @main(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=[]> (%a) (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["g"]> (%0, %1) (%x1: tensor<4x8xf32>, %x2: tensor<4x8xf32>) {
    %t = stablehlo.add %x1, %x2 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  return %2 : !m1
}
