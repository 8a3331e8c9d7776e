// RUN: sdy-opt %s -mpmd-call-inline | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) {call_counter = 0 : ui32} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V2]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: return %[[V1]]
func.func @main(%a: !m1) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.call @g(%a) {call_counter = 0 : ui32} : (!m1) -> !m2
  return %0 : !m2
}

// CHECK-NOT: @g
func.func private @g(%a: !m1) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  %2 = mpmd.transfer %0 : (!m1) -> !m2
  return %2 : !m2
}
