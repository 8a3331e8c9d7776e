// What only passes make has no words in an artifact.
// RUN: not sdy-translate %s --to=portable -o %t 2>&1 | FileCheck %s
// RUN: sed 's/sdy.reshard.*>]>/mpmd.broadcast %a/; s/{$/attributes {topology = #mpmd.topology<<"m" : <["x"=2]>>>} {/' %s > %t.mlir
// RUN: not sdy-translate %t.mlir --to=portable -o %t 2>&1 | FileCheck %s --check-prefix=MPMD
// MPMD: error: cannot write a program for several meshes (MPMD) to a portable artifact, which holds StableHLO only; write text or MLIR bytecode
// CHECK: not_in_artifacts.mlir:{{[0-9]+}}:8: error: cannot write 'sdy.reshard' to a portable artifact, which can only hold operations that users write; write the program before propagation or after partitioning

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // The next line is the one.
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
