// RUN: sdy-opt %s -mpmd-enforce-user-shardings | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// Fragments take arguments, and make results, as the function has them; %b is taken as by the first
// fragment that uses it.
// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{}, {"x"}]>]> (%arg0, %arg1) (%arg2: tensor<4x8xf32>, %arg3: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %arg2, %arg3
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V0]]
func.func @main(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: !m1) -> (!m1 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%a, %b) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4x8xf32>
    mpmd.return %1 : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  return %0 : !m1
}

// A transfer on one mesh makes the result, too.
// CHECK-LABEL: func.func @returned(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V0]]
func.func @returned(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (!m1 {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!m1) -> !m1
  return %0 : !m1
}
