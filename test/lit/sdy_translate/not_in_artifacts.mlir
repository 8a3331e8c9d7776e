// What only passes make has no words in an artifact.
// RUN: not sdy-translate %s --to=portable -o %t 2>&1 | FileCheck %s
// CHECK: not_in_artifacts.mlir:{{[0-9]+}}:8: error: 'sdy.reshard' can't be put into a portable artifact, which has words for what users write only; write the program as it was before it was propagated, or after it has been partitioned

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // The next line is the one.
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
