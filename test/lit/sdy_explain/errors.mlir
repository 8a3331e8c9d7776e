// RUN: not sdy-explain %s --value=nonsense 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not sdy-explain %s --value= 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not sdy-explain %s --schedule= 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not sdy-explain %s --html=a --html=b 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not sdy-explain %s --diff=%S/Inputs/add.mlir 2>&1 | FileCheck %s --check-prefix=DIFF
// RUN: not sdy-explain %s --value=%%zz 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: not sdy-explain %s --value=line5 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: not sdy-explain %s --what-if="%%a=[{'xs'}, {}]" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not sdy-explain %s --what-if="a=P('model', None)" 2>&1 | FileCheck %s --check-prefix=SPEC
// RUN: not sdy-explain %t.missing.mlir --check="no_all_gather" 2>&1 | FileCheck %s --check-prefix=CHECK-FIRST
// RUN: not sdy-explain %t.missing.mlir --what-if="%%a" 2>&1 | FileCheck %s --check-prefix=WHAT-IF-FIRST

// NAMES: no value '%zz': {{.*}}; there are '%a', '%{{[0-9]+}}'
// LINE: no value 'line5': {{.*}}; write '5' for the line
// AXIS:      --what-if:1:7: error: the program has no mesh with an axis 'xs'; the axes are x
// AXIS-NEXT: %a=[{'xs'}, {}]
// AXIS-NEXT:      ^
// SPEC: --what-if:1:6: error: the program has no mesh with an axis 'model'; the axes are x
// CHECK-FIRST: sdy-explain: error: expected a limit such as 'no all_gather along data'
// WHAT-IF-FIRST: sdy-explain: error: expected '--what-if' with a value and a sharding
// VALUE: sdy-explain: error: no value 'nonsense': expected a name in the text
// EMPTY: sdy-explain: error: {{.*--(value.* requires a value|schedule: expected one argument)}}
// TWICE: sdy-explain: error: argument --html: given as 'a' and as 'b'
// DIFF: sdy-explain: error: can't compare the plans of different programs:

sdy.mesh @mesh = <["x"=2]>
func.func @main(
    %a: tensor<6x2xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<6x2xf64> {
  %0 = stablehlo.negate %a : tensor<6x2xf64>
  return %0 : tensor<6x2xf64>
}
