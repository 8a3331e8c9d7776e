// RUN: sdy-opt %s -mpmd-mark-fragment-reserved-memory | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!host = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// A value of 4 x 8 takes 128 bytes, or 64 if it is split; %a is freed after its last use, but not %b.
// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {jax.buffer_donor = true}, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>, %arg2: !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) {reserved_hbm_bytes = 64 : i64} (%arg3: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg3
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[V0]]) {reserved_hbm_bytes = 64 : i64} (%arg3: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.tanh %arg3
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m2", origin=["h"]> (%arg2) {reserved_hbm_bytes = 0 : i64} (%arg3: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.tanh %arg3
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.transfer %[[V3]] : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V2]], %[[V4]]
func.func @main(%a: !m1 {jax.buffer_donor = true}, %b: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>, %c: !m2) -> (!m1, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%0) (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m2", origin=["h"]> (%c) (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m2) -> !m2
  %3 = mpmd.transfer %2 : (!m2) -> !m1
  return %1, %3 : !m1, !m1
}
