// RUN: sdy-opt %s -mpmd-introduce-transfers | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @same_mesh(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %arg0
func.func @same_mesh(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.assign %0 : (tensor<4xf32>) -> !m1
  return %1 : !m1
}

// CHECK-LABEL: func.func @one_transfer(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>, tensor<4xf32>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: return %[[V1]], %[[V1]], %[[V0]]
func.func @one_transfer(%a: !m1) -> (!m2, !m2, tensor<4xf32>) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.assign %0 : (tensor<4xf32>) -> !m2
  %2 = mpmd.assign %0 : (tensor<4xf32>) -> !m2
  return %1, %2, %0 : !m2, !m2, tensor<4xf32>
}

// CHECK-LABEL: func.func @chain(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m3", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: return %[[V1]], %[[V0]]
func.func @chain(%a: !m1) -> (!m3, !m2) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.assign %0 : (tensor<4xf32>) -> !m3
  %2 = mpmd.assign %0 : (tensor<4xf32>) -> !m2
  return %1, %2 : !m3, !m2
}

// CHECK-LABEL: func.func @sum(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>, %arg2: !mpmd.mesh_tensor<"m3", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %arg1 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment<mesh="m3", origin=[]> (%[[V0]], %[[V1]]) {mpmd.inferred_by = ["introduce_transfers"]} (%arg3: tensor<4xf32>, %arg4: tensor<4xf32>) {
// CHECK-NEXT: %[[V4:.*]] = stablehlo.add %arg3, %arg4
// CHECK-NEXT: mpmd.return %[[V4]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m3", tensor<4xf32>>, !mpmd.mesh_tensor<"m3", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m3", origin=[]> (%[[V2]], %arg2) {mpmd.inferred_by = ["introduce_transfers"]} (%arg3: tensor<4xf32>, %arg4: tensor<4xf32>) {
// CHECK-NEXT: %[[V4:.*]] = stablehlo.add %arg3, %arg4
// CHECK-NEXT: mpmd.return %[[V4]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m3", tensor<4xf32>>, !mpmd.mesh_tensor<"m3", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: return %[[V3]]
func.func @sum(%a: !m1, %b: !m2, %c: !m3) -> !m3 attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m2) -> tensor<4xf32>
  %2 = mpmd.unassign %c : (!m3) -> tensor<4xf32>
  %3 = stablehlo.add %0, %1 : tensor<4xf32>
  %4 = stablehlo.add %3, %2 : tensor<4xf32>
  %5 = mpmd.assign %4 : (tensor<4xf32>) -> !m3
  return %5 : !m3
}

// CHECK-LABEL: func.func private @callee(%arg0: tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.assign %arg0 : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: return %[[V1]]
func.func private @callee(%a: tensor<4xf32>) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.assign %a : (tensor<4xf32>) -> !m2
  return %0 : !m2
}

// CHECK-LABEL: func.func @caller(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.call @callee(%[[V0]]) : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.call @callee(%[[V0]]) : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: return %[[V1]], %[[V2]]
func.func @caller(%a: !m1) -> (!m2, !m2) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.call @callee(%0) : (tensor<4xf32>) -> !m2
  %2 = mpmd.call @callee(%0) : (tensor<4xf32>) -> !m2
  return %1, %2 : !m2, !m2
}
