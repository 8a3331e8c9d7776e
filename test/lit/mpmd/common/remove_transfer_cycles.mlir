// RUN: sdy-opt %s -mpmd-remove-transfer-cycles | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>
!host = !mpmd.mesh_tensor<"m1", tensor<4xf32>, memory_kind="pinned_host">

// CHECK-LABEL: func.func @cycle(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: return %arg0, %[[V0]]
func.func @cycle(%a: !m1) -> (!m1, !m2) attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!m1) -> !m2
  %1 = mpmd.transfer %0 : (!m2) -> !m3
  %2 = mpmd.transfer %1 : (!m3) -> !m1
  %3 = mpmd.transfer %1 : (!m3) -> !m2
  return %2, %3 : !m1, !m2
}

// CHECK-LABEL: func.func @by_host(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>, memory_kind="pinned_host">
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4xf32>, memory_kind="pinned_host">) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %[[V1]]
func.func @by_host(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!m1) -> !host
  %1 = mpmd.transfer %0 : (!host) -> !m1
  return %1 : !m1
}
