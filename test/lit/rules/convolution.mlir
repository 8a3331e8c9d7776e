// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules='conservative-propagation=true' | FileCheck %s --check-prefix=CONSERVATIVE

// Convolutions.

// As many windows as elements: the kernel has a factor of its own.
// CHECK-LABEL: func.func @same_padding
// CONSERVATIVE-LABEL: func.func @same_padding
func.func @same_padding(%a: tensor<2x8x3xf32>, %b: tensor<3x3x4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j, l], [k, l, m])->([i, j, m]) {i=2, j=8, k=3, l=3, m=4} reduction={l} permutation={j, k}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i, l, j], [m, j, k])->([i, n, k]) {i=2, j=3, k=4, l=1, m=1, n=1} reduction={j}>
  stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x8x4xf32>
  return
}

// The kernel comes first where it is larger than the output.
// CHECK-LABEL: func.func @large_kernel
// CONSERVATIVE-LABEL: func.func @large_kernel
func.func @large_kernel(%a: tensor<2x8x3xf32>, %b: tensor<6x3x4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j, l], [j, l, m])->([i, k, m]) {i=2, j=6, k=3, l=3, m=4} reduction={j, l} permutation={k}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i, l, j], [m, j, k])->([i, n, k]) {i=2, j=3, k=4, l=1, m=1, n=1} reduction={j}>
  stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<6x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// Each feature is a group.
// CHECK-LABEL: func.func @depthwise
// CONSERVATIVE-LABEL: func.func @depthwise
func.func @depthwise(%a: tensor<2x8x4xf32>, %b: tensor<3x1x4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j, l], [k, m, l])->([i, j, l]) {i=2, j=6, k=3, l=4, m=1} reduction={m} permutation={j, k}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i, l, j], [m, k, j])->([i, n, j]) {i=2, j=4, k=1, l=1, m=1, n=1} reduction={k}>
  stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<2x8x4xf32>, tensor<3x1x4xf32>) -> tensor<2x6x4xf32>
  return
}

// Groups of the batch have kernels of their own.
// CHECK-LABEL: func.func @batch_groups
// CONSERVATIVE-LABEL: func.func @batch_groups
func.func @batch_groups(%a: tensor<4x8x3xf32>, %b: tensor<3x3x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([ij, k, m], [l, m, in])->([j, k, in]) {i=2, j=2, k=6, l=3, m=3, n=3} reduction={m} permutation={k, l}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([ij, m, k], [n, k, il])->([j, o, il]) {i=2, j=2, k=3, l=3, m=1, n=1, o=1} reduction={k}>
  stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x8x3xf32>, tensor<3x3x6xf32>) -> tensor<2x6x6xf32>
  return
}
