// RUN: sdy-opt %s -mpmd-split-bwd-fragments | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// An operation that nothing uses takes a value of the first half.
// CHECK-LABEL: func.func @dead_operation
// CHECK-NEXT: %[[V0:.*]]:3 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%arg0) {split_keep_transferred} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V2]], %arg1, %[[V2]]
// CHECK:      mpmd.fragment<mesh="m1", origin=["f"(1)]> (%arg0, %[[V0]]#1, %[[V0]]#2) {split_drop_transferred}
func.func @dead_operation(%a: !m1) -> (!m2, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%a) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    %2 = stablehlo.negate %x : tensor<4xf32>
    %3 = stablehlo.multiply %1, %1 : tensor<4xf32>
    mpmd.return %1, %2 : tensor<4xf32>, tensor<4xf32>
  } : (!m1) -> (!m1, !m1)
  %4 = mpmd.transfer %0#0 : (!m1) -> !m2
  return %4, %0#1 : !m2, !m1
}
