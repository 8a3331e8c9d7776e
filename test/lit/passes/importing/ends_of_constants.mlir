// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter | FileCheck %s

// A transpose, a concatenation and a constraint use constants, but are none: they aren't copied.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
func.func @main() -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x4xf32>, tensor<4x2xf32>) {
  // CHECK-COUNT-4: sdy.constant dense<1.000000e+00> : tensor<2x4xf32>
  // CHECK-NOT:     sdy.constant
  // CHECK:         stablehlo.transpose
  // CHECK-NEXT:    stablehlo.concatenate
  // CHECK-NEXT:    sdy.sharding_constraint
  // CHECK-NEXT:    stablehlo.reshape
  %c = stablehlo.constant dense<1.0> : tensor<2x4xf32>
  %0 = stablehlo.transpose %c, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %2 = sdy.sharding_constraint %c <@mesh, [{"x"}, {}]> : tensor<2x4xf32>
  %3 = stablehlo.reshape %2 : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %0, %0, %1, %3 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x4xf32>, tensor<4x2xf32>
}
