// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules='conservative-propagation=true' | FileCheck %s --check-prefix=CONSERVATIVE

// Windows.

// A window over one dimension.
// CHECK-LABEL: func.func @cumulative_sum
// CONSERVATIVE-LABEL: func.func @cumulative_sum
func.func @cumulative_sum(%a: tensor<4x6xf32>, %b: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=6} permutation={j}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=6} permutation={j} blocked_propagation={j}>
  "stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 1, 6>,
    padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %0 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// Strides alone are windows, too.
// CHECK-LABEL: func.func @strides
// CONSERVATIVE-LABEL: func.func @strides
func.func @strides(%a: tensor<4x6xf32>, %b: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=3} permutation={j}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=3} permutation={j} blocked_propagation={j}>
  "stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 1, 1>,
    window_strides = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %0 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: func.func @max_pool_gradient
// CONSERVATIVE-LABEL: func.func @max_pool_gradient
func.func @max_pool_gradient(%a: tensor<4x6xf32>, %b: tensor<4x2xf32>, %c: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([i, k], [i, j], [])->([i, k]) {i=4, j=2, k=6} need_replication={j} permutation={k}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i, k], [i, j], [])->([i, k]) {i=4, j=2, k=6} need_replication={j} permutation={k} blocked_propagation={j, k}>
  "stablehlo.select_and_scatter"(%a, %b, %c) <{window_dimensions = array<i64: 1, 3>,
    window_strides = array<i64: 1, 3>}> ({
  ^bb0(%x0: tensor<f32>, %x1: tensor<f32>):
    %0 = stablehlo.compare GE, %x0, %x1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %0 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}
