// Errors in passes and rules of users show their lines, and reproducers name their files.

// RUN: not sdy-opt %s --load-passes=%S/Inputs/user.py --load-rules=%S/Inputs/user.py --boom --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE --input-file=%t.mlir
// RUN: not sdy-opt --run-reproducer %t.mlir --load-passes=%S/Inputs/user.py 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not sdy-opt %s --load-passes=%S/Inputs/user.py --fail-in-callback --mlir-print-stacktrace-on-diagnostic 2>&1 | FileCheck %s --check-prefix=CALLBACK
// RUN: not sdy-opt %s --load-rules=%S/Inputs/user.py,%S/Inputs/user.py --sdy-basic-propagate 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: sdy-opt --mlir-generate-reproducer=%t.strict.mlir --strict-rules --cse %s
// RUN: FileCheck %s --check-prefix=STRICT --input-file=%t.strict.mlir

// CHECK:      user_files.mlir:[[# @LINE + 31]]:1: error: internal error in pass 'boom': ValueError: oops at {{.*}}main{{.*}}
// CHECK:      Inputs/user.py:25: note: it was raised here
// CHECK-NEXT: raise ValueError(f"oops
// CHECK:      note: use --mlir-print-stacktrace-on-diagnostic for a traceback
// CHECK:      note: to reproduce: sdy-opt --run-reproducer '{{.*}}.mlir' --load-passes={{.*}}user.py --load-rules={{.*}}user.py

// FILE: // needs the flags: --load-passes={{.*}}user.py --load-rules={{.*}}user.py
// FILE: pipeline: "builtin.module(func.func(boom))"

// AGAIN: error: internal error in pass 'boom': ValueError: oops at {{.*}}main{{.*}}

// CALLBACK:     error: internal error in pass 'fail-in-callback': ValueError: oops
// CALLBACK:     Inputs/user.py:25: note: it was raised here
// CALLBACK-NOT: use --mlir-print-stacktrace-on-diagnostic
// CALLBACK:     Traceback

// RULE:      user_files.mlir:[[# @LINE + 16]]:8: error: the sharding rule of 'stablehlo.custom_call' failed: KeyError
// RULE:      Inputs/user.py:9: note: it was raised here
// RULE-NEXT: return {}[operation.name]
// RULE:      note: use --mlir-print-stacktrace-on-diagnostic for a traceback

// STRICT: // needs the flags: --strict-rules
sdy.mesh @mesh = <["x"=2]>








func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.custom_call @broken(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
