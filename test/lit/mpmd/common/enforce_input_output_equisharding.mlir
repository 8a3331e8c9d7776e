// RUN: sdy-opt %s -mpmd-enforce-input-output-equisharding=constraints=0:0 | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m2", origin=["f"]> (%[[V0]]) (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V2]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.transfer %[[V1]] : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V3]]
func.func @main(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!m1) -> !m2
  %1 = mpmd.fragment<mesh="m2", origin=["f"]> (%0) (%x: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m2) -> !m2
  return %1 : !m2
}
