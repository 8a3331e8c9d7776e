// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not sdy-run %s 2>&1 | FileCheck %s
// RUN: not sdy-run %s.missing 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK: errors.mlir:9:8: error: the reference interpreter can't run 'stablehlo.cholesky'
// CHECK-NEXT: %0 = stablehlo.cholesky
// MISSING: sdy-run: error: cannot open input file
func.func @main(%x: tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<2x4x4xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}
sdy.mesh @mesh = <["x"=2]>
