// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Random numbers.

// CHECK-LABEL: func.func @bits
func.func @bits(%a: tensor<3xui64>) {
  // CHECK: #sdy.op_sharding_rule<([i])->([i], [j, k]) {i=3, j=4, k=6} need_replication={i} blocked_propagation={i}>
  stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4x6xui32>)
  return
}

// CHECK-LABEL: func.func @normal
func.func @normal(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<1xi64>) {
  // CHECK: #sdy.op_sharding_rule<([], [], [j])->([i]) {i=4, j=1} need_replication={j}>
  stablehlo.rng %a, %b, %c, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return
}
