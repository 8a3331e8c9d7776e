// RUN: sdy-opt %s -mpmd-populate-unreduced-out-sharding | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// The partial sums of the product stay partial outside of the fragment.
// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<8x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8x8xf32>>
// CHECK-NEXT: %[[V0:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}, {"x"}]>], out_shardings=[<@mesh, [{}, {}], unreduced={"x"}>, <@mesh, [{"x"}, {}]>]> (%arg0) (%arg1: tensor<8x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.dot %arg1, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT: mpmd.return %[[V1]], %[[V2]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<8x8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<8x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<8x8xf32>>)
// CHECK-NEXT: return %[[V0]]#0
func.func @main(%a: !mpmd.mesh_tensor<"m1", tensor<8x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8x8xf32>> attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}, {"x"}]>], out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>]> (%a) (%x: tensor<8x8xf32>) {
    %1 = stablehlo.dot %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
    mpmd.return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<8x8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<8x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<8x8xf32>>)
  return %0#0 : !mpmd.mesh_tensor<"m1", tensor<8x8xf32>>
}
