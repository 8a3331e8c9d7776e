// RUN: sdy-opt %s '-mpmd-map-input-output-to-mesh=input-assignment=1@m2#pinned_host output-assignment=0@m1,2@m3' | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>, %arg1: !mpmd.mesh_tensor<"m2", tensor<4xf32>, memory_kind="pinned_host">) -> (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, tensor<4xf32>, !mpmd.mesh_tensor<"m3", tensor<4xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.unassign {origin = "user_in"} %arg1 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>, memory_kind="pinned_host">) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %arg0, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = mpmd.assign {origin = "user_out"} %[[V1]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.assign {origin = "user_out"} %[[V0]] : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>
// CHECK-NEXT: return %[[V2]], %[[V1]], %[[V3]]
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0, %0, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
