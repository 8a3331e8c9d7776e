// RUN: sdy-opt %s -mpmd-infer-mesh-pipeline=infer-transfers=true | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @conflict(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg1 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%arg0, %[[V0]]) {mpmd.inferred_by = ["infer_mesh_wrap_meshless_ops"]} (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.subtract %arg2, %arg3
// CHECK-NEXT: %[[V3:.*]] = stablehlo.tanh %[[V2]]
// CHECK-NEXT: mpmd.return %[[V3]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]
func.func @conflict(%a: !m1, %b: !m2) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m2) -> tensor<4xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<4xf32>
  %3 = stablehlo.tanh %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
