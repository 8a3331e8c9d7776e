// RUN: sdy-opt %s -mpmd-infer-mesh-rewrite-using-analysis | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @into_fragment(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.unassign %arg1 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = mpmd.assign %[[V0]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.assign %[[V1]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%[[V2]], %[[V3]]) (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT: %[[V5:.*]] = stablehlo.add %arg2, %arg3
// CHECK-NEXT: %[[V6:.*]] = stablehlo.tanh %[[V5]]
// CHECK-NEXT: mpmd.return %[[V6]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %[[V4]]
func.func @into_fragment(%a: !m1, %b: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m1) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  %3 = mpmd.assign %2 : (tensor<4xf32>) -> !m1
  %4 = mpmd.fragment<mesh="m1", origin=["f"]> (%3) (%x: tensor<4xf32>) {
    %5 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %5 : tensor<4xf32>
  } : (!m1) -> !m1
  return %4 : !m1
}

// CHECK-LABEL: func.func @copied(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.assign %[[V0]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%[[V1]]) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V5:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: %[[V6:.*]] = stablehlo.tanh %[[V5]]
// CHECK-NEXT: mpmd.return %[[V6]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.assign %[[V0]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.fragment<mesh="m2", origin=["g"]> (%[[V3]]) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V5:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: %[[V6:.*]] = stablehlo.tanh %[[V5]]
// CHECK-NEXT: mpmd.return %[[V6]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: return %[[V2]], %[[V4]]
func.func @copied(%a: !m1) -> (!m1, !m2) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  %2 = mpmd.assign %1 : (tensor<4xf32>) -> !m1
  %3 = mpmd.assign %1 : (tensor<4xf32>) -> !m2
  %4 = mpmd.fragment<mesh="m1", origin=["f"]> (%2) (%x: tensor<4xf32>) {
    %5 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %5 : tensor<4xf32>
  } : (!m1) -> !m1
  %6 = mpmd.fragment<mesh="m2", origin=["g"]> (%3) (%x: tensor<4xf32>) {
    %5 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %5 : tensor<4xf32>
  } : (!m2) -> !m2
  return %4, %6 : !m1, !m2
}

// CHECK-LABEL: func.func @own_fragment(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = mpmd.unassign %arg1 : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = mpmd.assign %[[V0]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.assign %[[V1]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%[[V2]], %[[V3]]) {mpmd.inferred_by = ["infer_mesh_wrap_meshless_ops"]} (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT: %[[V9:.*]] = stablehlo.add %arg2, %arg3
// CHECK-NEXT: mpmd.return %[[V9]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V5:.*]] = mpmd.unassign %[[V4]] : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V6:.*]] = mpmd.assign %[[V5]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V7:.*]] = mpmd.assign %[[V5]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V8:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%[[V6]]) (%arg2: tensor<4xf32>) {
// CHECK-NEXT: %[[V9:.*]] = stablehlo.tanh %arg2
// CHECK-NEXT: mpmd.return %[[V9]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %[[V8]], %[[V7]]
func.func @own_fragment(%a: !m1, %b: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m1) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  %3 = mpmd.assign %2 : (tensor<4xf32>) -> !m1
  %4 = mpmd.assign %2 : (tensor<4xf32>) -> !m1
  %5 = mpmd.fragment<mesh="m1", origin=["f"]> (%3) (%x: tensor<4xf32>) {
    %6 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %6 : tensor<4xf32>
  } : (!m1) -> !m1
  return %5, %4 : !m1, !m1
}
