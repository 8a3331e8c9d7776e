// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Reductions.

// CHECK-LABEL: func.func @all
func.func @all(%a: tensor<4x6xf32>, %b: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [])->([]) {i=4, j=6} reduction={i, j}>
  stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  return
}

// All inputs have the same dimensions reduced.
// CHECK-LABEL: func.func @two_inputs
func.func @two_inputs(%a: tensor<4x6xf32>, %b: tensor<4x6xi32>, %c: tensor<f32>, %d: tensor<i32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i], [i]) {i=4, j=6} reduction={j}>
  "stablehlo.reduce"(%a, %b, %c, %d) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x0: tensor<f32>, %x1: tensor<i32>, %y0: tensor<f32>, %y1: tensor<i32>):
    stablehlo.return %y0, %y1 : tensor<f32>, tensor<i32>
  }) : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  return
}
