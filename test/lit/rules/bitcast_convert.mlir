// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Reinterpretation of bits.

// Nothing changes.
// CHECK-LABEL: func.func @same_width
func.func @same_width(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6}>
  stablehlo.bitcast_convert %a : (tensor<4x6xf32>) -> tensor<4x6xi32>
  return
}

// The last dimension becomes one element.
// CHECK-LABEL: func.func @wider
func.func @wider(%a: tensor<4x6x2xi16>) {
  // CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j]) {i=4, j=6, k=2} need_replication={k}>
  stablehlo.bitcast_convert %a : (tensor<4x6x2xi16>) -> tensor<4x6xf32>
  return
}
