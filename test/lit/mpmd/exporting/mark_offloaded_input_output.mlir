// RUN: sdy-opt %s -mpmd-mark-offloaded-input-output | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!host = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0, %arg1) {arg_attrs = [{mhlo.memory_kind = "pinned_host"}, {}], res_attrs = [{mhlo.memory_kind = "pinned_host"}]} (%arg2: tensor<4x8xf32>, %arg3: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %arg2, %arg3
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
// CHECK-NEXT: return %[[V0]]
func.func @main(%a: !host, %b: !m1) -> !host attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %b) (%x1: tensor<4x8xf32>, %x2: tensor<4x8xf32>) {
    %t = stablehlo.add %x1, %x2 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!host, !m1) -> !host
  return %0 : !host
}

// An annotation in the body moves a result to the host, and with it the operand that takes it.
// CHECK-LABEL: func.func @annotated
// CHECK: mpmd.fragment<mesh="m1", origin=["f"]> (%arg0, %arg1) {arg_attrs = [{mhlo.memory_kind = "pinned_host"}, {}], res_attrs = [{mhlo.memory_kind = "pinned_host"}, {}, {mhlo.memory_kind = "pinned_host"}]}
// CHECK: mpmd.fragment<mesh="m1", origin=["g"]> (%{{.*}}#0, %{{.*}}#1) {arg_attrs = [{mhlo.memory_kind = "pinned_host"}, {}], res_attrs = [{}]}
func.func @annotated(%a: !m1 {mhlo.memory_kind = "pinned_host"}, %b: !m1) -> (!m1 {mhlo.memory_kind = "pinned_host"}, !m1) attributes {topology = #topology} {
  %0:3 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %b) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.custom_call @annotate_device_placement(%x) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.custom_call @annotate_device_placement(%y) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "device"}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.dynamic_update_slice %y, %1, %i, %i : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    mpmd.return %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1, !m1) -> (!m1, !m1, !m1)
  %4 = mpmd.fragment<mesh="m1", origin=["g"]> (%0#0, %0#1) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    %5 = stablehlo.add %x, %y : tensor<4x8xf32>
    mpmd.return %5 : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  return %0#2, %4 : !m1, !m1
}
