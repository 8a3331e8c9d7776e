// RUN: sdy-opt %s -mpmd-split-and-prioritize-transfer-independent-computations | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// The square of `%w` comes before the transfer, and its result is one of both halves.
// CHECK-LABEL: func.func @arguments
// CHECK-NEXT: %[[FIRST:.*]] = mpmd.fragment<mesh="m2", origin=["f"]> (%arg1) {call_counter = 1 : ui32} (%[[W:.*]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[S:.*]] = stablehlo.multiply %[[W]], %[[W]]
// CHECK-NEXT:   mpmd.return %[[S]]
// CHECK: %[[T:.*]] = mpmd.transfer %arg0
// CHECK-NEXT: %[[SECOND:.*]] = mpmd.fragment<mesh="m2", origin=["f"]> (%[[T]], %[[FIRST]]) {call_counter = 1 : ui32} (%[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[C:.*]] = stablehlo.constant
// CHECK-NEXT:   %[[A:.*]] = stablehlo.add %[[X]], %[[C]]
// CHECK-NEXT:   %[[R:.*]] = stablehlo.add %[[A]], %[[Y]]
// CHECK-NEXT:   mpmd.return %[[R]]
// CHECK: return %[[SECOND]], %[[FIRST]]
func.func @arguments(%a: !m1, %w: !m2) -> (!m2, !m2) attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!m1) -> !m2
  %1:2 = mpmd.fragment<mesh="m2", origin=["f"]> (%0, %w) {call_counter = 1 : ui32} (%x: !t, %y: !t) {
    %c = stablehlo.constant dense<1.0> : !t
    %2 = stablehlo.add %x, %c : !t
    %3 = stablehlo.multiply %y, %y : !t
    %4 = stablehlo.add %2, %3 : !t
    mpmd.return %4, %3 : !t, !t
  } : (!m2, !m2) -> (!m2, !m2)
  return %1#0, %1#1 : !m2, !m2
}

// The first half comes after its operand if that comes after the transfer.
// CHECK-LABEL: func.func @later_operand
// CHECK-NEXT: %[[T:.*]] = mpmd.transfer %arg0
// CHECK-NEXT: %[[E:.*]] = mpmd.fragment<mesh="m2", origin=["e"]> (%arg1)
// CHECK: %[[FIRST:.*]] = mpmd.fragment<mesh="m2", origin=["f"]> (%[[E]])
// CHECK: mpmd.fragment<mesh="m1", origin=["g"]>
// CHECK: mpmd.fragment<mesh="m2", origin=["f"]> (%[[T]], %[[FIRST]])
func.func @later_operand(%a: !m1, %w: !m2) -> (!m2, !m1) attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!m1) -> !m2
  %1 = mpmd.fragment<mesh="m2", origin=["e"]> (%w) (%x: !t) {
    %5 = stablehlo.tanh %x : !t
    mpmd.return %5 : !t
  } : (!m2) -> !m2
  %2 = mpmd.fragment<mesh="m1", origin=["g"]> (%a) (%x: !t) {
    %5 = stablehlo.tanh %x : !t
    mpmd.return %5 : !t
  } : (!m1) -> !m1
  %3 = mpmd.fragment<mesh="m2", origin=["f"]> (%0, %1) (%x: !t, %y: !t) {
    %5 = stablehlo.negate %y : !t
    %6 = stablehlo.add %x, %5 : !t
    mpmd.return %6 : !t
  } : (!m2, !m2) -> !m2
  return %3, %2 : !m2, !m1
}

// Fragments without transferred operands, or in which all but constants depends on these, stay.
// CHECK-LABEL: func.func @unchanged
// CHECK-COUNT-2: mpmd.fragment
// CHECK-NOT: mpmd.fragment
// CHECK: return
func.func @unchanged(%a: !m1) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: !t) {
    %3 = stablehlo.negate %x : !t
    mpmd.return %3 : !t
  } : (!m1) -> !m1
  %1 = mpmd.transfer %0 : (!m1) -> !m2
  %2 = mpmd.fragment<mesh="m2", origin=["g"]> (%1) (%x: !t) {
    %c = stablehlo.constant dense<1.0> : !t
    %3 = stablehlo.add %x, %c : !t
    mpmd.return %3 : !t
  } : (!m2) -> !m2
  return %2 : !m2
}
