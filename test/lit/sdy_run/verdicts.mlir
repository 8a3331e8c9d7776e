// RUN: not sdy-run %s 2>&1 | FileCheck %s

// A program of which no value can be compared isn't OK.

// CHECK: largest difference   relative   rounding   allowed
// CHECK: result 0: 32 of 32 values NaN: nothing compared
// CHECK: inconclusive: no value could be compared; use other inputs by --inputs

sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.abs %a : tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  %2 = stablehlo.log %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
