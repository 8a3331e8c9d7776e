// RUN: sdy-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-populate-src-set -mpmd-infer-mesh-assign-mesh-func-leaves | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @leaves(%arg0: tensor<4xf32>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg2: !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} %arg2 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %[[V0]] {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} : tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: %[[V3:.*]] = stablehlo.tanh %[[V0]] {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} : tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = mpmd.assign {origin = "inferred_unused"} %[[V3]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V5:.*]] = mpmd.assign {origin = "broadcast"} %[[V0]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V6:.*]] = mpmd.unassign %[[V5]] : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V7:.*]] = mpmd.broadcast %[[V6]] : tensor<4xf32>
// CHECK-NEXT: %[[V8:.*]] = mpmd.assign {origin = "inferred_out"} %[[V1]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V9:.*]] = mpmd.assign {origin = "inferred_out"} %[[V2]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %[[V8]], %[[V9]]
func.func @leaves(%a: tensor<4xf32>, %unused: tensor<4xf32>, %b: !m2) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0 = mpmd.unassign %b : (!m2) -> tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  %2 = stablehlo.tanh %a : tensor<4xf32>
  %3 = stablehlo.tanh %0 : tensor<4xf32>
  %4 = mpmd.broadcast %0 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// A callee without a topology is on no mesh.
// CHECK-LABEL: func.func @main
// CHECK: %[[CALL:.*]] = mpmd.call @f(%arg0)
// CHECK-NEXT: %[[OUT:.*]] = mpmd.assign {origin = "inferred_out"} %[[CALL]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %[[OUT]]
// CHECK: func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>} {
  %0 = mpmd.call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
