// RUN: sdy-opt %s -mpmd-uniquify-function-inputs-outputs | FileCheck %s


!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg2: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg2
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.*]]:3 = mpmd.fragment<mesh="m1", origin=[]> (%[[V0]], %arg0) {mpmd.inferred_by = ["uniquify"]} (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT: mpmd.return %arg2, %arg2, %arg3
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m2", origin=[]> (%arg1) {mpmd.inferred_by = ["uniquify"]} (%arg2: tensor<4xf32>) {
// CHECK-NEXT: mpmd.return %arg2
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V2]]#0, %[[V2]]#1, %[[V2]]#2, %[[V3]]
func.func @main(%a: !m1, %b: !m2) -> (!m1, !m1, !m1, !m2) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  return %0, %0, %a, %b : !m1, !m1, !m1, !m2
}

// The order is that of the meshes of all results.
// CHECK-LABEL: func.func @order
// CHECK:      mpmd.fragment<mesh="m1", origin=["f"]>
// CHECK:      mpmd.fragment<mesh="m1", origin=[]> (%arg0)
// CHECK:      mpmd.fragment<mesh="m2", origin=[]> (%arg1)
func.func @order(%a: !m1, %b: !m2) -> (!m1, !m2, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m1) -> !m1
  return %0, %b, %a : !m1, !m2, !m1
}
