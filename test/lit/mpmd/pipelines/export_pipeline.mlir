// RUN: sdy-opt %s '-mpmd-export-pipeline=fail-on-inferred-fragments=false copy-constants=true merge-transfers=true' | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// CHECK-LABEL: func.func public @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {jax.buffer_donor = true}, %arg1: !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment_call<mesh="m1", origin=["f"]> @p0_f_call0.main(%arg0) : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment_call<mesh="m2", origin=["g"]> @p1_g_call0.main(%[[V1]]) : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment_call<mesh="m2", origin=[]> @p2_inferred.main(%arg1) : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V2]], %[[V3]]
func.func public @main(%a: !m1 {jax.buffer_donor = true}, %b: !m2) -> (!m2, !m2) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x : tensor<4x8xf32>
    %c = stablehlo.constant dense<2.0> : tensor<4x8xf32>
    mpmd.return %t, %c : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1) -> (!m1, !m1)
  %1 = mpmd.transfer %0#0 : (!m1) -> !m2
  %2 = mpmd.transfer %0#1 : (!m1) -> !m2
  %3 = mpmd.fragment<mesh="m2", origin=["g"]> (%1, %2) {call_counter = 0 : ui32} (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    %t = stablehlo.add %x, %y : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m2, !m2) -> !m2
  return %3, %b : !m2, !m2
}

// CHECK-LABEL: func.func @p0_f_call0.main(%arg0: tensor<4x8xf32> {jax.buffer_donor = true}) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>, reserved_hbm_bytes = 0 : i64}
// CHECK-NEXT: %[[V0:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[V0]]

// CHECK-LABEL: func.func @p1_g_call0.main(%arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>, reserved_hbm_bytes = 128 : i64}
// CHECK-NEXT: %[[V0:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4x8xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %arg0, %[[V0]]
// CHECK-NEXT: return %[[V1]]

// CHECK-LABEL: func.func @p2_inferred.main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>, reserved_hbm_bytes = 128 : i64}
// CHECK-NEXT: return %arg0
