// RUN: sdy-opt %s -mpmd-convert-sdy-shardings-to-mpmd-types | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {}]>> {jax.buffer_donor = true}) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0, %arg1) (%arg2: tensor<4x8xf32>, %arg3: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.add %arg2, %arg3
// CHECK-NEXT: %[[V3:.*]] = sdy.sharding_constraint %[[V2]] <@mesh, [{}, {"x"}]>
// CHECK-NEXT: mpmd.return %[[V3]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {}]>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>
// CHECK-NEXT: return %[[V1]]
func.func @main(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: !m1 {jax.buffer_donor = true}) -> (!m2 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>], out_shardings=[<@mesh, [{}, {"x"}]>]> (%a, %b) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    %1 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"x"}]> : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  %3 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} %0 : (!m1) -> !m2
  return %3 : !m2
}
