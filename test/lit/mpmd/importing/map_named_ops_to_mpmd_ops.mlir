// RUN: sdy-opt %s '-mpmd-map-named-ops-to-mpmd-ops=assignment=f@m1,g@m2/3,t@m3#pinned_host' | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.assign {origin = "f"} %arg0 : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%[[V0]], %[[V0]]) (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT: %[[V9:.*]] = stablehlo.add %arg2, %arg3
// CHECK-NEXT: mpmd.return %[[V9]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.*]] = mpmd.unassign {origin = "f"} %[[V1]] : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = mpmd.assign {origin = "g"} %[[V2]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.assign {origin = "g"} %arg1 : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
// CHECK-NEXT: %[[V5:.*]] = mpmd.fragment<mesh="m2", origin=["g"(1)], stage=3> (%[[V3]], %[[V4]]) (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT: %[[V9:.*]] = stablehlo.add %arg2, %arg3
// CHECK-NEXT: mpmd.return %[[V9]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.*]] = mpmd.unassign {origin = "g"} %[[V5]] : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> tensor<4xf32>
// CHECK-NEXT: %[[V7:.*]] = mpmd.assign {origin = "t"} %[[V6]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>, memory_kind="pinned_host">
// CHECK-NEXT: %[[V8:.*]] = mpmd.unassign {origin = "t"} %[[V7]] : (!mpmd.mesh_tensor<"m3", tensor<4xf32>, memory_kind="pinned_host">) -> tensor<4xf32>
// CHECK-NEXT: return %[[V8]], %arg0
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0 = mpmd.named_computation<"f"> (%a, %a) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = mpmd.named_computation<"g"(1)> (%0, %b) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = mpmd.named_tensor %2 name="t" : tensor<4xf32>
  %4 = mpmd.named_tensor %a name="unassigned" : tensor<4xf32>
  return %3, %4 : tensor<4xf32>, tensor<4xf32>
}
