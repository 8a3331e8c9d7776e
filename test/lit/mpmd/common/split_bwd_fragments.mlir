// RUN: sdy-opt %s -mpmd-split-bwd-fragments | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @split(%arg0: !mpmd.mesh_tensor<"m2", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]]:3 = mpmd.fragment<mesh="m2", origin=["f"(1)]> (%arg0, %arg1) {call_counter = 0 : ui32, split_keep_transferred} (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.tanh %arg3
// CHECK-NEXT: %[[V4:.*]] = stablehlo.add %[[V3]], %arg2
// CHECK-NEXT: mpmd.return %[[V4]], %arg3, %[[V3]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m2", origin=["f"(1)]> (%arg0, %arg1, %[[V0]]#1, %[[V0]]#2) {call_counter = 0 : ui32, split_drop_transferred} (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>, %arg5: tensor<4xf32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.multiply %arg5, %arg4
// CHECK-NEXT: mpmd.return %[[V3]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.transfer %[[V0]]#0 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %[[V2]], %[[V1]]
func.func @split(%a: !m2, %b: !m2) -> (!m1, !m2) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m2", origin=["f"(1)]> (%a, %b) {call_counter = 0 : ui32} (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.tanh %y : tensor<4xf32>
    %2 = stablehlo.add %1, %x : tensor<4xf32>
    %3 = stablehlo.multiply %1, %y : tensor<4xf32>
    mpmd.return %2, %3 : tensor<4xf32>, tensor<4xf32>
  } : (!m2, !m2) -> (!m2, !m2)
  %4 = mpmd.transfer %0#0 : (!m2) -> !m1
  return %4, %0#1 : !m1, !m2
}

// CHECK-LABEL: func.func @nothing_to_send(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %[[V0]]
func.func @nothing_to_send(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%a) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  return %0 : !m1
}

// CHECK-LABEL: func.func @all_to_send(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V2]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: return %[[V1]]
func.func @all_to_send(%a: !m1) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%a) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m1) -> !m1
  %2 = mpmd.transfer %0 : (!m1) -> !m2
  return %2 : !m2
}
