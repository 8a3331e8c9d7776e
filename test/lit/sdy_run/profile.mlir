// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-run %s --profile=2 --backend=jit --optimization=0 --compare=interpreter | FileCheck %s

// CHECK: OK: the results match those of the unpartitioned program
// CHECK: Time
// CHECK: propagate {{[0-9.]+}} 1
// CHECK: partition {{[0-9.]+}} 1
// CHECK: compile on all devices {{[0-9.]+}} 1
// CHECK: run on all devices {{[0-9.]+}} 2
// CHECK: compile on one device {{[0-9.]+}} 1
// CHECK: run on one device {{[0-9.]+}} 2
// CHECK: Bytes on each device: 16 of inputs, 4 of outputs; 4 sent in each run
sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
