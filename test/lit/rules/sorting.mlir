// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Sorts.

// CHECK-LABEL: func.func @pairs
func.func @pairs(%a: tensor<6x4xf32>, %b: tensor<6x4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j], [i, j]) {i=6, j=4} need_replication={i}>
  "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
  ^bb0(%x0: tensor<f32>, %x1: tensor<f32>, %x2: tensor<f32>, %x3: tensor<f32>):
    %0 = stablehlo.compare LT, %x0, %x1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<6x4xf32>, tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)
  return
}

// Nothing propagates along the only dimension there is.
// CHECK-LABEL: func.func @alone
func.func @alone(%a: tensor<1x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=1, j=6} need_replication={j} blocked_propagation={j}>
  "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%x0: tensor<f32>, %x1: tensor<f32>):
    %0 = stablehlo.compare LT, %x0, %x1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<1x6xf32>) -> tensor<1x6xf32>
  return
}

// Negative dimensions count from the end.
// CHECK-LABEL: func.func @last
func.func @last(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6} need_replication={j}>
  "stablehlo.sort"(%a) <{dimension = -1 : i64}> ({
  ^bb0(%x0: tensor<f32>, %x1: tensor<f32>):
    %0 = stablehlo.compare LT, %x0, %x1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
