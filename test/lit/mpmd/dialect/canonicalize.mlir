// RUN: sdy-opt %s -canonicalize | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!on_host = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2, "y"=2]>>>

// CHECK-LABEL: @transfers
func.func @transfers(%a: !m1) -> (!m1, !m1, !m1) attributes {topology = #topology} {
  // CHECK-NEXT: %[[THERE:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2"
  // CHECK-NEXT: %[[BACK:.*]] = mpmd.transfer %[[THERE]]
  // CHECK-NEXT: return %arg0, %arg0, %[[BACK]]
  %0 = mpmd.transfer %a : (!m1) -> !m1
  %1 = mpmd.transfer %a : (!m1) -> !on_host
  %2 = mpmd.transfer %1 : (!on_host) -> !m1
  %3 = mpmd.transfer %a : (!m1) -> !m2
  %4 = mpmd.transfer %3 : (!m2) -> !m1
  return %0, %2, %4 : !m1, !m1, !m1
}

// CHECK-LABEL: @broadcasts_and_reductions
func.func @broadcasts_and_reductions(%t: tensor<4x8xf32>, %u: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[BROADCAST:.*]] = mpmd.broadcast %arg0
  // CHECK-NEXT: %[[ADD:.*]] = mpmd.reduce<add> %arg0, %arg1
  // CHECK-NEXT: %[[MAX:.*]] = mpmd.reduce<max> %[[ADD]]
  // CHECK-NEXT: %[[SECOND:.*]] = mpmd.reduce<add> %[[ADD]], %arg1
  // CHECK-NEXT: return %[[BROADCAST]], %[[ADD]], %[[ADD]], %[[MAX]], %[[SECOND]]
  %0 = mpmd.broadcast %t : tensor<4x8xf32>
  %1 = mpmd.broadcast %0 : tensor<4x8xf32>
  %2 = mpmd.reduce<add> %t, %u : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = mpmd.reduce<none> %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = mpmd.reduce<add> %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = mpmd.reduce<max> %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // Upstream drops the last operand.
  %6 = mpmd.reduce<add> %2, %u : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %3, %4, %5, %6
      : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: @fragments
func.func @fragments(%a: !m1) -> (!m1, !m1, !m1) attributes {topology = #topology} {
  // An unused fragment without effects is erased.
  // CHECK-NEXT: %[[RESULTS:.*]]:3 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0)
  // CHECK: %[[HOST:.*]] = mpmd.transfer %[[RESULTS]]#2
  // CHECK-NEXT: return %arg0, %[[RESULTS]]#1, %[[HOST]]
  %0:3 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%b: tensor<4x8xf32>) {
    %2 = stablehlo.add %b, %b : tensor<4x8xf32>
    mpmd.return %b, %2, %b : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1) -> (!m1, !m1, !on_host)
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%a) (%b: tensor<4x8xf32>) {
    mpmd.return %b : tensor<4x8xf32>
  } : (!m1) -> !m1
  %2 = mpmd.transfer %0#2 : (!on_host) -> !m1
  return %0#0, %0#1, %2 : !m1, !m1, !m1
}
