// RUN: sdy-opt %s -mpmd-infer-mesh-populate-src-set -mpmd-infer-mesh-convert-reduce-ops=infer-cross-mesh-reductions=true | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @reductions(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>, %arg2: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} %arg1 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %arg2 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = mpmd.reduce<add> {mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">} %[[V0]], %[[V1]], %[[V2]] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.add %[[V0]], %[[V2]] {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} : tensor<4xf32>
// CHECK-NEXT: return %[[V3]], %[[V4]]
func.func @reductions(%a: !m1, %b: !m2, %c: !m1) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m2) -> tensor<4xf32>
  %2 = mpmd.unassign %c : (!m1) -> tensor<4xf32>
  %3 = stablehlo.add %0, %1 : tensor<4xf32>
  %4 = stablehlo.add %3, %2 : tensor<4xf32>
  %5 = stablehlo.add %0, %2 : tensor<4xf32>
  return %4, %5 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @of_user(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} %arg1 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = mpmd.reduce<add> {mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">} %[[V0]], %[[V1]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = mpmd.reduce<none> %[[V2]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V3]]
func.func @of_user(%a: !m1, %b: !m2) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m2) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  %3 = mpmd.reduce<none> %2 : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: func.func @slices(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} %arg1 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V0]] {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.reshape %[[V1]] {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[CST:.*]] = stablehlo.constant dense<0.000000e+00>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V2]] {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.reshape %[[V3]] {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V6:.*]] = mpmd.reduce<max> {mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">} %[[V4]], %[[V5]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V6]]
func.func @slices(%a: !m1, %b: !m2) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m2) -> tensor<4xf32>
  %2 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<1x4xf32>
  %3 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<1x4xf32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %5 = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.reduce(%4 init: %5) applies stablehlo.maximum across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}
