// RUN: sdy-opt %s -mpmd-lower-to-fragment-calls | FileCheck %s

// The phases of all origins, the most frequent name, and microbatches only if each fragment has its own, they follow
// each other, and the origins are equal.

// CHECK: fragment_call<{{.*}}> @p0_f..._fwd_bwd_call0.main(
// CHECK: fragment_call<{{.*}}> @p1_f..._fwd_transpose2.main(
// CHECK: fragment_call<{{.*}}> @"p2_layer_2:0_bwd.main"(
// CHECK: fragment_call<{{.*}}> @p3_f_fwd_calls2from1.main(
// CHECK: fragment_call<{{.*}}> @p3_f_fwd_calls2from1.main(
// CHECK: fragment_call<{{.*}}> @p4_h_fwd.main(
// CHECK: fragment_call<{{.*}}> @p4_h_fwd.main(
// CHECK: fragment_call<{{.*}}> @p5_f_fwd.main(
// CHECK: fragment_call<{{.*}}> @p5_f_fwd.main(
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
func.func @main(%a: !m1) -> !m1 attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  %r0 = mpmd.fragment<mesh="m1", origin=["f", "g"(1)]> (%a) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    %0 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %0 : tensor<4xf32>
  } : (!m1) -> !m1
  %r1 = mpmd.fragment<mesh="m1", origin=["g", "f", "f"(2)]> (%r0) (%x: tensor<4xf32>) {
    %0 = stablehlo.negate %x : tensor<4xf32>
    mpmd.return %0 : tensor<4xf32>
  } : (!m1) -> !m1
  %r2 = mpmd.fragment<mesh="m1", origin=["layer_0"(1), "layer_2"(1)]> (%r1) (%x: tensor<4xf32>) {
    %0 = stablehlo.abs %x : tensor<4xf32>
    mpmd.return %0 : tensor<4xf32>
  } : (!m1) -> !m1
  %r3 = mpmd.fragment<mesh="m1", origin=["f"]> (%r2) {call_counter = 2 : ui32} (%x: tensor<4xf32>) {
    %0 = stablehlo.sqrt %x : tensor<4xf32>
    mpmd.return %0 : tensor<4xf32>
  } : (!m1) -> !m1
  %r4 = mpmd.fragment<mesh="m1", origin=["f"]> (%r3) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    %0 = stablehlo.sqrt %x : tensor<4xf32>
    mpmd.return %0 : tensor<4xf32>
  } : (!m1) -> !m1
  %r5 = mpmd.fragment<mesh="m1", origin=["h"]> (%r4) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    %0 = stablehlo.sine %x : tensor<4xf32>
    mpmd.return %0 : tensor<4xf32>
  } : (!m1) -> !m1
  %r6 = mpmd.fragment<mesh="m1", origin=["h"]> (%r5) {call_counter = 3 : ui32} (%x: tensor<4xf32>) {
    %0 = stablehlo.sine %x : tensor<4xf32>
    mpmd.return %0 : tensor<4xf32>
  } : (!m1) -> !m1
  %r7 = mpmd.fragment<mesh="m1", origin=["f"]> (%r6) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    %0 = stablehlo.cosine %x : tensor<4xf32>
    mpmd.return %0 : tensor<4xf32>
  } : (!m1) -> !m1
  %r8 = mpmd.fragment<mesh="m1", origin=["g"]> (%r7) {call_counter = 2 : ui32} (%x: tensor<4xf32>) {
    %0 = stablehlo.cosine %x : tensor<4xf32>
    mpmd.return %0 : tensor<4xf32>
  } : (!m1) -> !m1
  return %r8 : !m1
}
