// RUN: sdy-run %s | FileCheck %s --check-prefix=DEFAULT
// RUN: not sdy-run %s --tolerance=0 | FileCheck %s --check-prefix=LIMIT
// RUN: not sdy-run %s --tolerance=1e-12 | FileCheck %s --check-prefix=LIMIT
// RUN: sdy-run %s --tolerance=0.5 | FileCheck %s --check-prefix=WIDE
// RUN: not sdy-run %s --tolerance=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not sdy-run %s --tolerance=nan 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not sdy-run %s --seed=-1 2>&1 | FileCheck %s --check-prefix=SEED

// A program that amplifies rounding: the sine of large sums.

// DEFAULT: rounding allowed
// DEFAULT: result 0 {{.*}} (rounding) OK
// DEFAULT: OK: the results match those of the unpartitioned program
// LIMIT: result 0 {{.*}} {{0|1e-12}} FAILED
// LIMIT: FAILED: 1 of 1 results differ; rounding alone gives {{.*}}, more than --tolerance allows
// WIDE: result 0 {{.*}} 0.5 OK
// NEGATIVE: sdy-run: error: '--tolerance' is '-1': expected a number of at least 0
// NAN: sdy-run: error: '--tolerance' is 'nan': expected a number of at least 0
// SEED: sdy-run: error: '--seed' is '-1': expected an integer of at least 0

sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %scale = stablehlo.constant dense<200.0> : tensor<8x8xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.multiply %0, %scale : tensor<8x8xf32>
  %2 = stablehlo.sine %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
