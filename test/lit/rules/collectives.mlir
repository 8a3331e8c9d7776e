// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Collectives that are in the program already.

// Those that keep the shape are point-wise.
// CHECK-LABEL: func.func @all_reduce
func.func @all_reduce(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6}>
  "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %0 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @collective_permute
func.func @collective_permute(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6}>
  "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}>
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// The dimension gathered is another one before and after, in all operands.
// CHECK-LABEL: func.func @two_operands
func.func @two_operands(%a: tensor<4x6xf32>, %b: tensor<2x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([j, i], [j, i])->([k, i], [k, i]) {i=6, j=4, k=8} need_replication={j, k}>
  "stablehlo.all_gather"(%a, %b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
    : (tensor<4x6xf32>, tensor<2x6xf32>) -> (tensor<8x6xf32>, tensor<4x6xf32>)
  return
}

// Split and put together along one dimension.
// CHECK-LABEL: func.func @one_dim
func.func @one_dim(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, k]) {i=4, j=6, k=6} need_replication={j, k}>
  "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
