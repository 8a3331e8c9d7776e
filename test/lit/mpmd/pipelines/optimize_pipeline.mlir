// RUN: sdy-opt %s '-mpmd-optimize-pipeline=pipeline-schedule=none fragment-remat=true merge-remat-fragments=true' | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

// The forward fragment that is computed again is part of the backward fragment.
// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) {call_counter = 0 : ui32} (%arg2: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg2
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg1) {call_counter = 1 : ui32} (%arg2: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.tanh %arg2
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%[[V2]]) {call_counter = 1 : ui32} (%arg2: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.negate %arg2
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.fragment<mesh="m1", origin=["f", "f"(1)]> (%arg0) {call_counter = 0 : ui32, remat} (%arg2: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.tanh %arg2
// CHECK-NEXT: %[[V5:.*]] = stablehlo.negate %[[V1]]
// CHECK-NEXT: mpmd.return %[[V5]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V3]], %[[V4]]
func.func @main(%a: !m1, %b: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["f"]> (%b) {call_counter = 1 : ui32} (%x: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%1) {call_counter = 1 : ui32} (%x: tensor<4x8xf32>) {
    %t = stablehlo.negate %x : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %3 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%0) {call_counter = 0 : ui32} (%x: tensor<4x8xf32>) {
    %t = stablehlo.negate %x : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %2, %3 : !m1, !m1
}
