// RUN: sdy-opt %s -mpmd-infer-mesh-finalize | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @arguments(%arg0: !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m3", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: return %[[V0]], %arg0
func.func @arguments(%a: tensor<4xf32>) -> (!m3, !m2) attributes {topology = #topology} {
  %0 = mpmd.assign %a : (tensor<4xf32>) -> !m3
  %1 = mpmd.assign %a : (tensor<4xf32>) -> !m2
  return %0, %1 : !m3, !m2
}

// CHECK-LABEL: func.func @broadcast(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: return %arg0, %[[V0]]
func.func @broadcast(%a: !m1) -> (!m1, !m2) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.broadcast %0 : tensor<4xf32>
  %2 = mpmd.assign %1 : (tensor<4xf32>) -> !m1
  %3 = mpmd.assign %1 : (tensor<4xf32>) -> !m2
  return %2, %3 : !m1, !m2
}

// CHECK-LABEL: func.func @reduction(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>, %arg2: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%arg0, %arg2) {mpmd.inferred_by = ["infer_mesh_convert_reduce_ops"]} (%arg3: tensor<4xf32>, %arg4: tensor<4xf32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.maximum %arg3, %arg4
// CHECK-NEXT: mpmd.return %[[V3]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment<mesh="m2", origin=[]> (%[[V1]], %arg1) {mpmd.inferred_by = ["infer_mesh_convert_reduce_ops"]} (%arg3: tensor<4xf32>, %arg4: tensor<4xf32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.maximum %arg3, %arg4
// CHECK-NEXT: mpmd.return %[[V3]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V2]]
func.func @reduction(%a: !m1, %b: !m2, %c: !m1) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m2) -> tensor<4xf32>
  %2 = mpmd.unassign %c : (!m1) -> tensor<4xf32>
  %3 = mpmd.reduce<max> %0, %1, %2 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = mpmd.assign %3 : (tensor<4xf32>) -> !m2
  return %4 : !m2
}
