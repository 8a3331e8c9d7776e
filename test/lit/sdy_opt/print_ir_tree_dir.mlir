// The files of --mlir-print-ir-tree-dir.

// RUN: rm -rf %t.tree
// RUN: sdy-opt %s --pass-pipeline='func.func(cse,canonicalize),cse' --mlir-print-ir-before=canonicalize --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.tree -o /dev/null
// RUN: FileCheck %s --check-prefix=DUMP --input-file=%t.tree/builtin_module_no-symbol-name/func_func_f/0_cse.mlir
// RUN: FileCheck %s --check-prefix=BEFORE --input-file=%t.tree/builtin_module_no-symbol-name/func_func_g/1_canonicalize_before.mlir
// RUN: FileCheck %s --check-prefix=WHOLE --input-file=%t.tree/builtin_module_no-symbol-name/2_cse.mlir
// RUN: not sdy-opt %s --cse --mlir-print-ir-tree-dir=%t.tree 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not sdy-opt %s --cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%s 2>&1 | FileCheck %s --check-prefix=TREE

// DUMP:       // -----// IR Dump After Cse (cse) //----- //
// DUMP-NEXT:  func.func @f
// BEFORE:     IR Dump Before Canonicalize
// BEFORE-NEXT: func.func @g
// WHOLE:      // -----// IR Dump After Cse (cse) //----- //
// WHOLE-NEXT: module {
// NOTHING: error: '--mlir-print-ir-tree-dir' needs a flag that says what to print
// TREE: error: cannot write the IR to '{{.*}}0_cse.mlir'

func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
