// What can be wrong with a command line or an input: one diagnostic, no traceback, exit status 1.

// RUN: not sdy-opt %s --split-input-file 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not sdy-opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=VERIFY
// RUN: not sdy-opt %s --csee 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not sdy-opt %s --pass-pipeline='func.func(cse,sdy-close-shardings)' 2>&1 | FileCheck %s --check-prefix=NESTING
// RUN: not sdy-opt %s.missing 2>&1 | FileCheck %s --check-prefix=MISSING

// FLAG: sdy-opt: error: unknown flag or pass '--csee'; did you mean '--cse'?

// NESTING:      <pass-pipeline>:1:15: error: pass 'sdy-close-shardings' runs on 'builtin.module', not within 'func.func(...)'
// NESTING-NEXT: func.func(cse,sdy-close-shardings)
// NESTING-NEXT:               ^

// MISSING: sdy-opt: error: cannot open input file '{{.*}}errors.mlir.missing': No such file or directory

// The piece that fails leaves a gap in the output; the others are there.
// INPUT:      errors.mlir:[[# @LINE + 7]]:3: error: custom op 'func.nonsense' is unknown
// INPUT-NEXT:   func.nonsense
// INPUT-NEXT:   ^
// INPUT-DAG:  func.func @good
// VERIFY:     errors.mlir:[[# @LINE + 3]]:3: error: unexpected error: custom op 'func.nonsense' is unknown
// VERIFY:     errors.mlir:[[# @LINE + 7]]:4: error: expected warning "never comes" was not produced
func.func @bad() {
  func.nonsense
}

// -----

// expected-warning@below {{never comes}}
func.func @good() {
  return
}
