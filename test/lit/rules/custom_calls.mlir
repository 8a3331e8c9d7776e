// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Custom calls.

// The state of random numbers is needed whole.
// CHECK-LABEL: func.func @random_state
func.func @random_state(%a: tensor<2xui32>) {
  // CHECK: #sdy.op_sharding_rule<([i], [i])->([i]) {i=2} need_replication={i} blocked_propagation={i}>
  %0 = stablehlo.custom_call @X64Combine(%a, %a) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui64>
  stablehlo.rng_bit_generator %0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return
}

// CHECK-LABEL: func.func @top_k
func.func @top_k(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=4, j=6}>
  stablehlo.custom_call @mhlo.topk(%a) : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  return
}

// Operands and results don't share the dimension searched.
// CHECK-LABEL: func.func @partial_reduce
func.func @partial_reduce(%a: tensor<4x6xf32>, %b: tensor<4x6xi32>, %c: tensor<f32>, %d: tensor<i32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, k], [i, k]) {i=4, j=6, k=3} need_replication={k} blocked_propagation={k}>
  stablehlo.custom_call @PartialReduce(%a, %b, %c, %d)
    : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return
}

// CHECK-LABEL: func.func @point_wise
func.func @point_wise(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6}>
  stablehlo.custom_call @"xla.megascale.provide_metadata"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
