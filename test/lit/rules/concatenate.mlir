// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules='conservative-propagation=true' | FileCheck %s --check-prefix=CONSERVATIVE

// Concatenation.

// A single operand is needed whole.
// CHECK-LABEL: func.func @one_operand
// CONSERVATIVE-LABEL: func.func @one_operand
func.func @one_operand(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6} need_replication={i}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([j, i])->([k, i]) {i=6, j=1, k=1}>
  stablehlo.concatenate %a, dim = 0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// Slices change places.
// CHECK-LABEL: func.func @slices
// CONSERVATIVE-LABEL: func.func @slices
func.func @slices(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = stablehlo.slice %a [2:4] : (tensor<4xf32>) -> tensor<2xf32>
  %1 = stablehlo.slice %b [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: #sdy.op_sharding_rule<([i], [i])->([i]) {i=3} permutation={i}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i], [j])->([k]) {i=1, j=1, k=1}>
  stablehlo.concatenate %0, %1, dim = 0 : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  return
}

// A tensor and a slice of it.
// CHECK-LABEL: func.func @halo
// CONSERVATIVE-LABEL: func.func @halo
func.func @halo(%a: tensor<4xf32>) {
  %0 = stablehlo.slice %a [3:4] : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: #sdy.op_sharding_rule<([i], [i])->([i]) {i=5} permutation={i}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i], [j])->([k]) {i=1, j=1, k=1}>
  stablehlo.concatenate %0, %a, dim = 0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// A tensor and a slice of another one.
// CHECK-LABEL: func.func @others
// CONSERVATIVE-LABEL: func.func @others
func.func @others(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %0 = stablehlo.slice %a [3:4] : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: #sdy.op_sharding_rule<([i], [i])->([i]) {i=5} need_replication={i}>
  // CONSERVATIVE: #sdy.op_sharding_rule<([i], [j])->([k]) {i=1, j=1, k=1}>
  stablehlo.concatenate %0, %b, dim = 0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}
