// RUN: sdy-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-populate-src-set '-mpmd-infer-mesh-assign-using-input-output-constraints=constraints=0:0,1:1,2:2' -mpmd-infer-mesh-assign-mesh-func-leaves | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>, %arg2: !mpmd.mesh_tensor<"m3", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>, !mpmd.mesh_tensor<"m3", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m3"["io_constraint_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m3">, origin = "io_constraint_in"} %arg2 : (!mpmd.mesh_tensor<"m3", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["io_constraint_in"], "m3"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m3", "m2">, origin = "io_constraint_in"} %arg1 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["io_constraint_in"], "m2"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m2", "m1">, origin = "io_constraint_in"} %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.tanh %[[V2]] {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["inferred_in"], "m1"["inferred_in"]>} : tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.add %[[V1]], %[[V2]] {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["inferred_in"]>} : tensor<4xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.tanh %[[V0]] {mpmd.src_set = #mpmd.meshes_with_origins<"m3"["inferred_in"]>} : tensor<4xf32>
// CHECK-NEXT: %[[V6:.*]] = mpmd.assign {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["inferred_in"], "m1"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m1">} %[[V3]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V7:.*]] = mpmd.assign {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m2">} %[[V4]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V8:.*]] = mpmd.assign {mpmd.src_set = #mpmd.meshes_with_origins<"m3"["inferred_in"], "m2"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m3">} %[[V1]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: %[[V9:.*]] = mpmd.assign {mpmd.src_set = #mpmd.meshes_with_origins<"m3"["inferred_in"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m3">} %[[V0]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: %[[V10:.*]] = mpmd.assign {origin = "io_constraint_out"} %[[V4]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V11:.*]] = mpmd.assign {origin = "io_constraint_out"} %[[V5]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: return %[[V6]], %[[V10]], %[[V11]]
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (!m1, tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  %1 = stablehlo.add %b, %a : tensor<4xf32>
  %5 = stablehlo.tanh %c : tensor<4xf32>
  %2 = mpmd.assign %0 : (tensor<4xf32>) -> !m1
  %3 = mpmd.assign %1 : (tensor<4xf32>) -> !m2
  %4 = mpmd.assign %b : (tensor<4xf32>) -> !m3
  %6 = mpmd.assign %c : (tensor<4xf32>) -> !m3
  return %2, %1, %5 : !m1, tensor<4xf32>, tensor<4xf32>
}
