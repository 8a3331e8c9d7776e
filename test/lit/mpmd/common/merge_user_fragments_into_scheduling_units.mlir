// RUN: sdy-opt %s -mpmd-merge-user-fragments-into-scheduling-units | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @forward(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f", "g"]> (%arg0, %arg1) (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.add %arg2, %arg3
// CHECK-NEXT: %[[V3:.*]] = stablehlo.add %arg3, %[[V2]]
// CHECK-NEXT: mpmd.return %[[V3]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%[[V0]]) (%arg2: tensor<4xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %arg2
// CHECK-NEXT: mpmd.return %[[V2]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]
func.func @forward(%a: !m1, %b: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %b) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1, !m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["g"]> (%b, %0) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1, !m1) -> !m1
  %3 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%2) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  return %3 : !m1
}

// CHECK-LABEL: func.func @microbatches(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) {call_counter = 0 : ui32} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V2]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%[[V0]]) {call_counter = 1 : ui32} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V2]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]
func.func @microbatches(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%0) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  return %2 : !m1
}
