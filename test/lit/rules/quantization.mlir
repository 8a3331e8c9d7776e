// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Quantised numbers.

// CHECK-LABEL: func.func @one_scale
func.func @one_scale(%a: tensor<4x2xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=2}>
  stablehlo.uniform_quantize %a : (tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i8:f32, 0.1>>
  return
}

// CHECK-LABEL: func.func @scales
func.func @scales(%a: tensor<2x4x!quant.uniform<i8:f32:0, {0.1,0.2}>>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, j=4} need_replication={i}>
  stablehlo.uniform_dequantize %a : (tensor<2x4x!quant.uniform<i8:f32:0, {0.1,0.2}>>) -> tensor<2x4xf32>
  return
}
