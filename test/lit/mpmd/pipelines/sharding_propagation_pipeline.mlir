// RUN: sdy-opt %s -mpmd-sharding-propagation-pipeline | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// The shardings of the weights determine those of the values, also across meshes.
// CHECK-LABEL: func.func public @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<8x16xf32>, sharding=<@mesh, [{}, {"x"}]>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<16x4xf32>, sharding=<@mesh, [{"x"}, {}]>>, %arg2: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x4xf32>, sharding=<@mesh, [{"x"}, {}]>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["s1"]> (%arg0, %arg2) (%arg3: tensor<8x16xf32>, %arg4: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.dot %arg4, %arg3
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<8x16xf32>, sharding=<@mesh, [{}, {"x"}]>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {}]>>) -> !mpmd.mesh_tensor<"m1", tensor<4x16xf32>, sharding=<@mesh, [{}, {"x"}]>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4x16xf32>, sharding=<@mesh, [{}, {"x"}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x16xf32>, sharding=<@mesh, [{}, {"x"}]>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m2", origin=["s2"]> (%arg1, %[[V2]]) (%arg3: tensor<16x4xf32>, %arg4: tensor<4x16xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.dot %arg4, %arg3
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m2", tensor<16x4xf32>, sharding=<@mesh, [{"x"}, {}]>>, !mpmd.mesh_tensor<"m2", tensor<4x16xf32>, sharding=<@mesh, [{}, {"x"}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x4xf32>, sharding=<@mesh, [{"x"}, {}]>>
// CHECK-NEXT: return %[[V3]] : !mpmd.mesh_tensor<"m2", tensor<4x4xf32>, sharding=<@mesh, [{"x"}, {}]>>
func.func public @main(%w1: !mpmd.mesh_tensor<"m1", tensor<8x16xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %w2: !mpmd.mesh_tensor<"m2", tensor<16x4xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: !m1) -> (!mpmd.mesh_tensor<"m2", tensor<4x4xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["s1"]> (%w1, %x) (%a: tensor<8x16xf32>, %b: tensor<4x8xf32>) {
    %3 = stablehlo.dot %b, %a : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    mpmd.return %3 : tensor<4x16xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<8x16xf32>>, !m1) -> !mpmd.mesh_tensor<"m1", tensor<4x16xf32>>
  %1 = mpmd.transfer %0 : (!mpmd.mesh_tensor<"m1", tensor<4x16xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x16xf32>>
  %2 = mpmd.fragment<mesh="m2", origin=["s2"]> (%w2, %1) (%a: tensor<16x4xf32>, %b: tensor<4x16xf32>) {
    %3 = stablehlo.dot %b, %a : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
    mpmd.return %3 : tensor<4x4xf32>
  } : (!mpmd.mesh_tensor<"m2", tensor<16x4xf32>>, !mpmd.mesh_tensor<"m2", tensor<4x16xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x4xf32>>
  return %2 : !mpmd.mesh_tensor<"m2", tensor<4x4xf32>>
}
