// RUN: sdy-opt %s -mpmd-extract-reshards-from-inter-mesh-transfers | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// The shards are smaller after the transfer: the fragment that makes the value changes the sharding,
// and its other user gets a copy with the sharding from before.
// CHECK-LABEL: func.func @at_producer(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%arg0) (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V3]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=[], out_shardings=[<@mesh, [{}, {}]>]> (%[[V0]]) {mpmd.inferred_by = ["extract_reshards"]} (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: mpmd.return %arg1
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V2]], %[[V1]]
func.func @at_producer(%a: !m1) -> (!m2, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}, {}]>], out_shardings=[<@mesh, [{}, {}]>]> (%a) (%x: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %x : tensor<4x8xf32>
    mpmd.return %1 : tensor<4x8xf32>
  } : (!m1) -> !m1
  %2 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %0 : (!m1) -> !m2
  return %2, %0 : !m2, !m1
}

// An argument is copied by a fragment.
// CHECK-LABEL: func.func @argument(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=[], out_shardings=[<@mesh, [{"x"}, {}]>]> (%arg0) {mpmd.inferred_by = ["extract_reshards"]} (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: mpmd.return %arg1
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V1]]
func.func @argument(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %a : (!m1) -> !m2
  return %0 : !m2
}

// The shards are not smaller: the fragment that uses the value changes the sharding, and the return
// gets a copy.
// CHECK-LABEL: func.func @at_consumer(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m2", origin=[], out_shardings=[<@mesh, [{}, {"x"}]>]> (%[[V0]]) {mpmd.inferred_by = ["extract_reshards"]} (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: mpmd.return %arg1
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment<mesh="m2", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{}, {"x"}]>]> (%[[V0]]) (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V3]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V1]], %[[V2]]
func.func @at_consumer(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (!m2, !m2) attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} %a : (!m1) -> !m2
  %1 = mpmd.fragment<mesh="m2", origin=["f"], in_shardings=[<@mesh, [{}, {"x"}]>], out_shardings=[<@mesh, [{}, {"x"}]>]> (%0) (%x: tensor<4x8xf32>) {
    %2 = stablehlo.tanh %x : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m2) -> !m2
  return %0, %1 : !m2, !m2
}

// The target is in the memory of the host, where nothing can change.
// CHECK-LABEL: func.func @to_host(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host">
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=[], out_shardings=[<@mesh, [{}, {}]>]> (%arg0) {mpmd.inferred_by = ["extract_reshards"]} (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: mpmd.return %arg1
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V1:.*]] = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} %[[V0]] : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host">
// CHECK-NEXT: return %[[V1]]
func.func @to_host(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host"> attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} %a : (!m1) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host">
  return %0 : !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host">
}

// CHECK-LABEL: func.func @equal(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V0]]
func.func @equal(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %a : (!m1) -> !m2
  return %0 : !m2
}
