// RUN: sdy-opt %s -mpmd-infer-mesh-populate-use-set | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @uses(%arg0: tensor<4xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"], "m1"["f"]>}, %arg1: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>} %arg1 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg0 {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"], "m1"["f"]>} : tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.add %[[V1]], %[[V0]] {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>} : tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = mpmd.assign {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>, origin = "f"} %[[V2]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.assign {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"]>, origin = "g"} %[[V1]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.tanh %[[V1]]
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

// CHECK-LABEL: func.func @caller(%arg0: tensor<4xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>})
// CHECK-NEXT: %[[V0:.*]] = mpmd.call @callee(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.assign {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>, origin = "f"} %[[V0]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return
func.func @caller(%a: tensor<4xf32>) -> () attributes {topology = #topology} {
  %0 = mpmd.call @callee(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = mpmd.assign {origin = "f"} %0 : (tensor<4xf32>) -> !m1
  return
}

// CHECK-LABEL: func.func private @callee(%arg0: tensor<4xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>}) -> (tensor<4xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>})
// CHECK-NEXT: %[[V0:.*]] = stablehlo.tanh %arg0 {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>} : tensor<4xf32>
// CHECK-NEXT: return %[[V0]]
func.func private @callee(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
