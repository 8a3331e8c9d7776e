// RUN: sdy-opt %s --load-passes=%passes --pass-pipeline='builtin.module(func.func(drop-double-negations,cse,canonicalize))' | FileCheck %s

// CHECK-LABEL: @twice
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @once
func.func @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[NEGATED:.*]] = stablehlo.negate
  // CHECK-NEXT: return %[[NEGATED]]
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
