// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Products by groups.

// Rows of tokens, sorted by expert.
// CHECK-LABEL: func.func @experts
func.func @experts(%a: tensor<32x8xf32>, %b: tensor<4x8x16xf32>, %c: tensor<4xi32>) {
  // CHECK: #sdy.op_sharding_rule<([j, k], [l, k, i], [m])->([j, i]) {i=16, j=32, k=8, l=4, m=4} reduction={k, l} need_replication={m}>
  "chlo.ragged_dot"(%a, %b, %c) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
    : (tensor<32x8xf32>, tensor<4x8x16xf32>, tensor<4xi32>) -> tensor<32x16xf32>
  return
}
