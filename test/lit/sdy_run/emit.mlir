// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-run %s --emit=stablehlo | FileCheck %s
// RUN: sdy-run %s --emit=portable -o %t.mlirbc
// RUN: sdy-translate %t.mlirbc | FileCheck %s
// RUN: sdy-run %s --emit=hlo | FileCheck %s --check-prefix=HLO
// RUN: sdy-run %s --emit=vmfb -o %t.vmfb
// RUN: %python -m iree._runtime.scripts.iree_dump_module %t.vmfb | FileCheck %s --check-prefix=VMFB

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>
// CHECK: stablehlo.all_reduce
// HLO: HloModule{{.*}}num_partitions=2
// HLO: all-reduce
// VMFB: @module
// VMFB: main(
sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
