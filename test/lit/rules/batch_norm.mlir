// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Batch normalisation.

// The feature dimension is the first one.
// CHECK-LABEL: func.func @inference
func.func @inference(%a: tensor<6x4x1xf32>, %b: tensor<6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j, k], [i], [i], [i], [i])->([i, j, k]) {i=6, j=4, k=1}>
  "stablehlo.batch_norm_inference"(%a, %b, %b, %b, %b) <{epsilon = 0.0 : f32, feature_index = 0 : i64}>
    : (tensor<6x4x1xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6x4x1xf32>
  return
}

// Gradients are sums over all but the features.
// CHECK-LABEL: func.func @grad
func.func @grad(%a: tensor<4x6xf32>, %b: tensor<6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [j], [j], [j], [i, j])->([i, j], [j], [j]) {i=4, j=6} need_replication={i}>
  "stablehlo.batch_norm_grad"(%a, %b, %b, %b, %a) <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
    : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>)
    -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}
