// The partitioned program is kept, also for --emit.

// The check of analyses, which all tests have, runs passes in any case.
// RUN: export PYSHARDY_VERIFY_ANALYSES=
// RUN: rm -rf %t && mkdir -p %t
// RUN: sdy-run %s --emit=stablehlo > %t/computed
// RUN: sdy-run %s --emit=stablehlo --cache=%t/cache > %t/first
// RUN: sdy-run %s --emit=stablehlo --cache=%t/cache > %t/second
// RUN: cmp %t/computed %t/first && cmp %t/computed %t/second
// RUN: ls %t/cache | wc -l | FileCheck %s --check-prefix=TWO
// TWO: {{^2$}}
// RUN: sdy-run %s --cache=%t/cache | FileCheck %s
// CHECK: OK: the results match those of the unpartitioned program
sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
