// A pass that fails leaves a file with which it fails again.

// RUN: not sdy-opt %s --cse --transform-interpreter='entry-point=__no_such_sequence' --mlir-pass-pipeline-crash-reproducer=%t.mlir --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE --input-file=%t.mlir
// RUN: not sdy-opt --run-reproducer %t.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN

// CHECK: // -----// IR Dump After TransformInterpreter Failed (transform-interpreter) //----- //
// CHECK: error: could not find a nested named sequence with name: __no_such_sequence
// CHECK: error: pass 'transform-interpreter' failed: reproducer generated at '[[PATH:.*]]'
// CHECK: note: to reproduce: sdy-opt --run-reproducer '[[PATH]]'

// FILE: sdy.mesh @mesh
// FILE: mlir_reproducer: {
// FILE-NEXT: pipeline: "builtin.module(cse,transform-interpreter{entry-point=__no_such_sequence})",
// FILE: verify_each: true

// AGAIN: error: could not find a nested named sequence with name: __no_such_sequence
sdy.mesh @mesh = <["x"=2]>
