// RUN: sdy-opt %s '-mpmd-import-pipeline=name-to-mesh-assignment=s1@m1,s2@m2 input-assignment=0@m2 infer-transfers=true' | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m2", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>>, %arg2: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=["s1"]> (%[[V0]], %arg2) (%arg3: tensor<4xf32>, %arg4: tensor<4xf32>) {
// CHECK-NEXT: %[[V4:.*]] = stablehlo.add %arg3, %arg4
// CHECK-NEXT: mpmd.return %[[V4]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.*]] = mpmd.transfer %[[V1]] : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m2", origin=["s2"]> (%arg1, %[[V2]]) (%arg3: tensor<4xf32>, %arg4: tensor<4xf32>) {
// CHECK-NEXT: %[[V4:.*]] = stablehlo.tanh %arg4
// CHECK-NEXT: %[[V5:.*]] = stablehlo.add %arg3, %[[V4]]
// CHECK-NEXT: mpmd.return %[[V5]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V3]]
func.func @main(%w1: tensor<4xf32>, %w2: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.named_computation<"s1"> (%w1, %x) (%b: tensor<4xf32>, %c: tensor<4xf32>) {
    %1 = stablehlo.add %b, %c : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.tanh %0 : tensor<4xf32>
  %3 = mpmd.named_computation<"s2"> (%w2, %2) (%b: tensor<4xf32>, %c: tensor<4xf32>) {
    %1 = stablehlo.add %b, %c : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
