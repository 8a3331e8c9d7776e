// RUN: sdy-opt %s -mpmd-lower-to-fragment-calls | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!host = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// Equal fragments of a mesh share a function, whose name tells the microbatches and the phase; those
// with another sharding have a function of their own.
// CHECK-LABEL: func.func public @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment_call<mesh="m1", origin=["layer_0", "layer_1"]> @"p0_layer_0:1_fwd_calls0to1.main"(%arg0) : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment_call<mesh="m1", origin=["layer_0", "layer_1"]> @"p0_layer_0:1_fwd_calls0to1.main"(%[[V0]]) : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment_call<mesh="m1", origin=["layer_0", "f"]> @p1_f..._fwd_call1.main(%arg1) {remat} : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.transfer %[[V1]] : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.fragment_call<mesh="m2", origin=["layer_0"(1), "layer_1"(1)]> @"p2_layer_1:0_bwd.main"(%[[V3]]) : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V5:.*]] = mpmd.fragment_call<mesh="m1", origin=[]> @p3_inferred.main(%arg0) : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V1]], %[[V2]], %[[V4]], %[[V5]]
func.func public @main(%a: !m1, %b: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> (!m1, !m1, !m2, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["layer_0", "layer_1"]> (%a) {call_counter = 0 : ui32, reserved_hbm_bytes = 64 : i64, arg_attrs = [{jax.buffer_donor = true}]} (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["layer_0", "layer_1"]> (%0) {call_counter = 1 : ui32, reserved_hbm_bytes = 128 : i64, arg_attrs = [{jax.buffer_donor = true}]} (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["layer_0", "f"]> (%b) {call_counter = 1 : ui32, remat} (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !m1
  %3 = mpmd.transfer %1 : (!m1) -> !m2
  %4 = mpmd.fragment<mesh="m2", origin=["layer_0"(1), "layer_1"(1)]> (%3) (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m2) -> !m2
  %5 = mpmd.fragment<mesh="m1", origin=[]> (%a) (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %1, %2, %4, %5 : !m1, !m1, !m2, !m1
}

// CHECK-LABEL: func.func @"p0_layer_0:1_fwd_calls0to1.main"(%arg0: tensor<4x8xf32> {jax.buffer_donor = true}) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>, reserved_hbm_bytes = 128 : i64}
// CHECK-NEXT: %[[V0:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[V0]]

// CHECK-LABEL: func.func @p1_f..._fwd_call1.main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>}
// CHECK-NEXT: %[[V0:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[V0]]

// CHECK-LABEL: func.func @"p2_layer_1:0_bwd.main"(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>}
// CHECK-NEXT: %[[V0:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[V0]]

// CHECK-LABEL: func.func @p3_inferred.main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>}
// CHECK-NEXT: %[[V0:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[V0]]
