// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Point-wise operations.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @scalars
func.func @scalars(%a: tensor<f32>, %b: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([], [])->([])>
  stablehlo.add %a, %b : tensor<f32>
  return
}

// CHECK-LABEL: func.func @empty
func.func @empty(%a: tensor<0x4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=0, j=4}>
  stablehlo.abs %a : tensor<0x4xf32>
  return
}

// CHECK-LABEL: func.func @constraint
func.func @constraint(%a: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=6}>
  sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @next_after
func.func @next_after(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=6}>
  chlo.next_after %a, %b : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @map
func.func @map(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=6}>
  "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %0 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
