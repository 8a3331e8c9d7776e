// RUN: sdy-opt %s -mpmd-merge-transfers -mpmd-fragment-dce | FileCheck %s

!s1 = !mpmd.mesh_tensor<"m1", tensor<f32>>
!s2 = !mpmd.mesh_tensor<"m2", tensor<f32>>
!v1 = !mpmd.mesh_tensor<"m1", tensor<f32>>
!v2 = !mpmd.mesh_tensor<"m2", tensor<f32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<f32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<f32>>) -> (!mpmd.mesh_tensor<"m2", tensor<f32>>, !mpmd.mesh_tensor<"m2", tensor<f32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0, %arg1) (%arg2: tensor<f32>, %arg3: tensor<f32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.tanh %arg2
// CHECK-NEXT: %[[V4:.*]] = stablehlo.tanh %arg3
// CHECK-NEXT: %[[V5:.*]] = stablehlo.reshape %[[V3]]
// CHECK-NEXT: %[[V6:.*]] = stablehlo.reshape %[[V4]]
// CHECK-NEXT: %[[V7:.*]] = stablehlo.concatenate %[[V5]], %[[V6]], dim = 0
// CHECK-NEXT: mpmd.return %[[V7]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<f32>>, !mpmd.mesh_tensor<"m1", tensor<f32>>) -> !mpmd.mesh_tensor<"m1", tensor<2xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer {concat_transfer} %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<2xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<2xf32>>
// CHECK-NEXT: %[[V2:.*]]:2 = mpmd.fragment<mesh="m2", origin=["g"]> (%[[V1]]) (%arg2: tensor<2xf32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %arg2 [0:1]
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = stablehlo.slice %arg2 [1:2]
// CHECK-NEXT: %[[V6:.*]] = stablehlo.reshape %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = stablehlo.tanh %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = stablehlo.negate %[[V4]]
// CHECK-NEXT: mpmd.return %[[V8]], %[[V7]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m2", tensor<2xf32>>) -> (!mpmd.mesh_tensor<"m2", tensor<f32>>, !mpmd.mesh_tensor<"m2", tensor<f32>>)
// CHECK-NEXT: return %[[V2]]#0, %[[V2]]#1
func.func @main(%a: !s1, %b: !v1) -> (!s2, !v2) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %b) (%x: tensor<f32>, %y: tensor<f32>) {
    %1 = stablehlo.tanh %x : tensor<f32>
    %2 = stablehlo.tanh %y : tensor<f32>
    mpmd.return %1, %2 : tensor<f32>, tensor<f32>
  } : (!s1, !v1) -> (!s1, !v1)
  %3 = mpmd.transfer %0#0 : (!s1) -> !s2
  %4 = mpmd.transfer %0#1 : (!v1) -> !v2
  %5:2 = mpmd.fragment<mesh="m2", origin=["g"]> (%4, %3) (%x: tensor<f32>, %y: tensor<f32>) {
    %1 = stablehlo.tanh %x : tensor<f32>
    %2 = stablehlo.negate %y : tensor<f32>
    mpmd.return %2, %1 : tensor<f32>, tensor<f32>
  } : (!v2, !s2) -> (!s2, !v2)
  return %5#0, %5#1 : !s2, !v2
}
