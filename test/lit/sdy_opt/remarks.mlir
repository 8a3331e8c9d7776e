// Remarks by a pattern, and diagnostics without notes.

// RUN: sdy-opt %s --remarks-filter='unsharded along dimension 0' --sdy-partition-pipeline -o /dev/null 2>&1 | FileCheck %s
// RUN: sdy-opt %s --remarks-filter=nothing --sdy-partition-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER --allow-empty
// RUN: not sdy-opt %s --remarks-filter='(' 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not sdy-opt %S/Inputs/two_operands.txt 2>&1 | FileCheck %s --check-prefix=NOTE
// RUN: not sdy-opt %S/Inputs/two_operands.txt --mlir-disable-diagnostic-notes 2>&1 | FileCheck %s --check-prefix=SHORT

// CHECK: remark: 'stablehlo.custom_call' op needs operand 0 unsharded along dimension 0
// OTHER-NOT: remark
// PATTERN: sdy-opt: error: '--remarks-filter' is no regular expression: missing )
// NOTE: note: see current operation
// SHORT: error: 'stablehlo.add' op expected 2 operands, but found 1
// SHORT-NOT: note
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.custom_call @unheard_of(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
