// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s --sdy-annotate-sizes=symbols=x0:2..64,s:8.. | FileCheck %s
// RUN: sdy-opt %s --sdy-annotate-sizes --sdy-dynamic-to-static=sizes=x0:8 | FileCheck %s --check-prefix=STATIC
// RUN: not sdy-opt %s --sdy-annotate-sizes=symbols=b:1..4 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not sdy-opt %s --sdy-annotate-sizes=symbols=x0:1 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not sdy-opt %s --sdy-annotate-sizes=symbols=x0:4..1 2>&1 | FileCheck %s --check-prefix=RANGE

// CHECK: sdy.equal_sizes = ["y0 == x0: checked at run time; 'stablehlo.add' op at {{.*}}annotate_sizes.mlir:[[# @LINE + 16]]:8"]
// CHECK-SAME: s = {min = 8 : i64
// CHECK-SAME: x0 = {max = 64 : i64, min = 2 : i64
// STATIC-NOT: sdy.sizes
// STATIC: stablehlo.concatenate {{.*}} -> tensor<16x4xf32>
// UNKNOWN: error: symbols: the program has no size 'b'; it has x0, s, y0
// FORM: error: symbols: 'x0:1' is no range: expected NAME:MIN..MAX, such as b:1..4096 or s:8..
// RANGE: error: the attribute 'sdy.symbols' of the module: no number is 'x0 in 4..1'

// CHECK: %arg0: tensor<?x4xf32> {sdy.sizes = ["x0", ""]}
// CHECK-SAME: %arg1: tensor<?xf32> {sdy.sizes = ["4*s"]}
// CHECK-SAME: %arg2: tensor<?x4xf32> {sdy.sizes = ["x0", ""]}
func.func @main(%x: tensor<?x4xf32>, %w: tensor<?xf32> {sdy.sizes = ["4*s"]}, %y: tensor<?x4xf32>)
    -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: stablehlo.add
  // CHECK-SAME: sdy.sizes = {{\[\["x0", ""\]\]}}
  %0 = stablehlo.add %x, %y : tensor<?x4xf32>
  // CHECK: stablehlo.concatenate
  // CHECK-SAME: sdy.sizes = {{\[\["2\*x0", ""\]\]}}
  %1 = stablehlo.concatenate %0, %0, dim = 0
      : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.pad
  // CHECK-SAME: sdy.sizes = {{\[\["8\*s"\]\]}}
  %2 = stablehlo.pad %w, %zero, low = [0], high = [1], interior = [1]
      : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  // CHECK: stablehlo.custom_call
  // CHECK-SAME: sdy.sizes = {{\[\["3"\]\]}}
  %size = stablehlo.constant dense<3> : tensor<1xi64>
  %3 = stablehlo.custom_call @rows(%w, %size) {indices_of_shape_operands = dense<[1]> : tensor<1xi64>}
      : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %1, %2, %3 : tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>
}
