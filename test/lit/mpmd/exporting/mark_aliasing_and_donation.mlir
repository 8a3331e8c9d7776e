// RUN: sdy-opt %s -mpmd-mark-aliasing-and-donation | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!host = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// A value without later uses lends its memory to a result of its type, and an argument if the user
// gave it away. Transferred values stay; so does %c, which is used again.
// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {jax.buffer_donor = true}, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {tf.aliasing_output = 1 : i32}, %arg2: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, %arg3: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {jax.buffer_donor = true}) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer %arg3 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0, %arg2) {arg_attrs = [{jax.buffer_donor = true}, {}]} (%arg4: tensor<4x8xf32>, %arg5: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.add %arg4, %arg5
// CHECK-NEXT: mpmd.return %[[V2]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[V1]], %arg2) {arg_attrs = [{tf.aliasing_output = 0 : i32}, {}]} (%arg4: tensor<4x8xf32>, %arg5: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V2]] = stablehlo.add %arg4, %arg5
// CHECK-NEXT: mpmd.return %[[V2]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.fragment<mesh="m1", origin=["h"]> (%arg1, %arg3) {arg_attrs = [{tf.aliasing_output = 0 : i32}, {}]} (%arg4: tensor<4x8xf32>, %arg5: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V2]] = stablehlo.add %arg4, %arg5
// CHECK-NEXT: mpmd.return %[[V2]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V3]], %[[V4]], %[[V0]]
func.func @main(%a: !m1 {jax.buffer_donor = true}, %b: !m1 {tf.aliasing_output = 1 : i32}, %c: !m1, %d: !m1 {jax.buffer_donor = true}) -> (!m1, !m1, !m2) attributes {topology = #topology} {
  %s = mpmd.transfer %d : (!m1) -> !m2
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %c) (%x1: tensor<4x8xf32>, %x2: tensor<4x8xf32>) {
    %t = stablehlo.add %x1, %x2 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%0, %c) (%x1: tensor<4x8xf32>, %x2: tensor<4x8xf32>) {
    %t = stablehlo.add %x1, %x2 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["h"]> (%b, %d) (%x1: tensor<4x8xf32>, %x2: tensor<4x8xf32>) {
    %t = stablehlo.add %x1, %x2 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  return %1, %2, %s : !m1, !m1, !m2
}

// CHECK-LABEL: func.func @twice_and_on_host
// CHECK:      mpmd.fragment<mesh="m1", origin=["f"]> (%arg0, %arg0, %arg1) {arg_attrs = [{}, {jax.buffer_donor = true}, {jax.buffer_donor = true}]}
func.func @twice_and_on_host(%a: !m1 {jax.buffer_donor = true}, %b: !host {jax.buffer_donor = true}) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %a, %b) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4x8xf32>
    %2 = stablehlo.add %1, %z : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m1, !m1, !host) -> !m1
  return %0 : !m1
}
