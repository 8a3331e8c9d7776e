// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-run --print-module %s | FileCheck %s
// RUN: sdy-run --no-check %s | FileCheck %s --check-prefix=UNCHECKED

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x6xf32>) -> tensor<4x6xf32>
// CHECK: stablehlo.dot_general
// CHECK: "stablehlo.all_reduce"

// CHECK: 4 devices, mesh <["x"=2, "y"=2]>
// CHECK: Inputs
// CHECK: weights
// CHECK-SAME: tensor<16x6xf32>
// CHECK-SAME: <@mesh, [{"y"}, {}]>
// CHECK-SAME: tensor<8x6xf32>
// CHECK: Collectives
// CHECK: all_reduce sum y 2 1 1 96 96
// CHECK: Outputs
// CHECK: result 0
// CHECK-SAME: <@mesh, [{"x"}, {}]>
// CHECK-SAME: OK
// CHECK: OK: the results match those of the unpartitioned program

// UNCHECKED: Outputs
// UNCHECKED-NOT: OK
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %w: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>} loc("weights"))
    -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
