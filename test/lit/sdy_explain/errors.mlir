// RUN: not sdy-explain %s --value=nonsense 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not sdy-explain %s --value= 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not sdy-explain %s --diff=%S/Inputs/add.mlir 2>&1 | FileCheck %s --check-prefix=DIFF

// VALUE: sdy-explain: error: no value 'nonsense': expected a name in the text
// EMPTY: sdy-explain: error: no value '': expected a name in the text
// DIFF: sdy-explain: error: can't compare the plans of different programs:

sdy.mesh @mesh = <["x"=2]>
func.func @main(
    %a: tensor<6x2xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<6x2xf64> {
  %0 = stablehlo.negate %a : tensor<6x2xf64>
  return %0 : tensor<6x2xf64>
}
