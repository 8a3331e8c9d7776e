// RUN: sdy-opt %s | FileCheck %s
// RUN: sdy-opt %s --mlir-print-op-generic | sdy-opt | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2" : <["x"=2, "y"=2]>>>

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, %arg1: tensor<4x8xf32>)
// CHECK-SAME:    -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="pinned_host">
// CHECK-SAME:    attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2, "y"=2]>>>}
func.func @main(%a: !m1, %t: tensor<4x8xf32>)
    -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="pinned_host">
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[V0:.*]] = mpmd.named_computation<"f"(1)> (%arg1) {k = 1 : i32} (%arg2: tensor<4x8xf32>) {
  // CHECK-NEXT:   mpmd.return %arg2 : tensor<4x8xf32>
  // CHECK-NEXT: } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = mpmd.named_computation<"f"(1)> (%t) {k = 1 : i32} (%b: tensor<4x8xf32>) {
    mpmd.return %b : tensor<4x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[V1:.*]] = mpmd.named_tensor %[[V0]] name="n" : tensor<4x8xf32>
  %1 = mpmd.named_tensor %0 name="n" : tensor<4x8xf32>
  // CHECK-NEXT: %[[V2:.*]] = mpmd.broadcast %[[V1]] : tensor<4x8xf32>
  %2 = mpmd.broadcast %1 : tensor<4x8xf32>
  // CHECK-NEXT: %[[V3:.*]] = mpmd.reduce<add> %[[V2]], %[[V1]] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = mpmd.reduce<add> %2, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[V4:.*]]:2 = mpmd.for (%arg1, %[[V3]]) {iterations = 4 : ui32, unroll_factor = 4 : ui32} (%arg2: tensor<4x8xf32>, %arg3: tensor<4x8xf32>, %index: tensor<ui32>) {
  // CHECK-NEXT:   mpmd.named_computation<"g"> (%arg2) (%arg4: tensor<4x8xf32>) {
  // CHECK:        mpmd.return %arg2, %arg3 : tensor<4x8xf32>, tensor<4x8xf32>
  // CHECK-NEXT: } : tensor<4x8xf32>, tensor<4x8xf32>
  %4:2 = mpmd.for (%t, %3) {iterations = 4 : ui32, unroll_factor = 4 : ui32}
      (%b: tensor<4x8xf32>, %c: tensor<4x8xf32>, %index: tensor<ui32>) {
    mpmd.named_computation<"g"> (%b) (%d: tensor<4x8xf32>) {
      mpmd.return
    } : (tensor<4x8xf32>) -> ()
    mpmd.return %b, %c : tensor<4x8xf32>, tensor<4x8xf32>
  } : tensor<4x8xf32>, tensor<4x8xf32>
  // CHECK-NEXT: %[[V5:.*]] = mpmd.call @g(%[[V4]]#1) {call_counter = 1 : ui32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = mpmd.call @g(%4#1) {call_counter = 1 : ui32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[V6:.*]] = mpmd.assign {origin = "s1"} %[[V5]] : (tensor<4x8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
  %6 = mpmd.assign {origin = "s1"} %5 : (tensor<4x8xf32>) -> !m1
  // CHECK-NEXT: %[[V7:.*]] = mpmd.unassign %[[V6]] : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> tensor<4x8xf32>
  %7 = mpmd.unassign %6 : (!m1) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[V8:.*]] = mpmd.fragment<mesh="m1", origin=["f", "g"(1)], stage=2, in_shardings=[<@mesh, [{"x"}, {?}]>]> (%[[V6]]) {call_counter = 3 : ui32} (%arg2: tensor<4x8xf32>) {
  %8 = mpmd.fragment<mesh="m1", origin=["f", "g"(1)], stage=2, in_shardings=[<@mesh, [{"x"}, {?}]>]>
      (%6) {call_counter = 3 : ui32} (%b: tensor<4x8xf32>) {
    mpmd.return %b : tensor<4x8xf32>
  } : (!m1) -> !m1
  // CHECK: %[[V9:.*]] = mpmd.fragment_call<mesh="m1", origin=["f"]> @h(%[[V8]]) {remat} : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
  %9 = mpmd.fragment_call<mesh="m1", origin=["f"]> @h(%8) {remat} : (!m1) -> !m1
  // CHECK-NEXT: %[[V10:.*]] = mpmd.transfer %[[V9]] : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="pinned_host">
  %10 = mpmd.transfer %9 : (!m1)
      -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="pinned_host">
  return %10 : !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="pinned_host">
}

func.func private @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {topology = #topology} {
  return %x : tensor<4x8xf32>
}

func.func private @h(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %x : tensor<4x8xf32>
}

// CHECK-LABEL: @attributes
// CHECK-SAME: e0 = #mpmd.meshes_with_origins<"m1"["a", "b"], "m2">, e1 = #mpmd.meshes_with_origins<>
// CHECK-SAME: e2 = #mpmd.reduction<max>, e3 = #mpmd.named_mesh<"m1" : <["x"=2]>>
// CHECK-SAME: e4 = #mpmd.user_origin<"f">, e5 = #mpmd.user_origin<"f"(2)>
func.func private @attributes() attributes {
  e0 = #mpmd.meshes_with_origins<"m1"["a", "b"], "m2">, e1 = #mpmd.meshes_with_origins<>,
  e2 = #mpmd.reduction<max>, e3 = #mpmd.named_mesh<"m1" : <["x"=2]>>,
  e4 = #mpmd.user_origin<"f"(0)>, e5 = #mpmd<user_origin<"f"(2)>>
}
