// RUN: sdy-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-populate-src-set | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @uses(%arg0: tensor<4xf32> {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["inferred_in"], "m1"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"], "m1"["f"]>}, %arg1: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>} %arg1 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg0 {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["inferred_in"], "m1"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"], "m1"["f"]>} : tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.add %[[V1]], %[[V0]] {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>} : tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = mpmd.assign {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>, origin = "f"} %[[V2]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.assign {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["inferred_in"], "m1"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"]>, origin = "g"} %[[V1]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.tanh %[[V1]] {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["inferred_in"], "m1"["inferred_in"]>} : tensor<4xf32>
// CHECK-NEXT: return %[[V5]]
func.func @uses(%a: tensor<4xf32>, %b: !m1) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.unassign %b : (!m1) -> tensor<4xf32>
  %1 = stablehlo.tanh %a : tensor<4xf32>
  %2 = stablehlo.add %1, %0 : tensor<4xf32>
  %3 = mpmd.assign {origin = "f"} %2 : (tensor<4xf32>) -> !m1
  %4 = mpmd.assign {origin = "g"} %1 : (tensor<4xf32>) -> !m2
  %5 = stablehlo.tanh %1 : tensor<4xf32>
  return %5 : tensor<4xf32>
}

// CHECK-LABEL: func.func @reductions(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>, %arg2: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} %arg1 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %arg2 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.add %[[V0]], %[[V1]] {mpmd.reduce = #mpmd.reduction<add>, mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">} : tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.add %[[V3]], %[[V2]] {mpmd.reduce = #mpmd.reduction<add>, mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">} : tensor<4xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.add %[[V0]], %[[V2]] {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} : tensor<4xf32>
// CHECK-NEXT: return %[[V4]], %[[V5]]
func.func @reductions(%a: !m1, %b: !m2, %c: !m1) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m2) -> tensor<4xf32>
  %2 = mpmd.unassign %c : (!m1) -> tensor<4xf32>
  %3 = stablehlo.add %0, %1 : tensor<4xf32>
  %4 = stablehlo.add %3, %2 : tensor<4xf32>
  %5 = stablehlo.add %0, %2 : tensor<4xf32>
  return %4, %5 : tensor<4xf32>, tensor<4xf32>
}
