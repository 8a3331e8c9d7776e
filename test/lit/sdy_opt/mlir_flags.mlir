// Flags of mlir-opt: those that print, log and refuse something.

// RUN: sdy-opt %s --mlir-print-unique-ssa-ids --mlir-print-value-users | FileCheck %s --check-prefix=UNIQUE
// RUN: not sdy-opt %s --mlir-print-unique-ssa-ids --mlir-print-debuginfo 2>&1 | FileCheck %s --check-prefix=COMBINED
// RUN: not sdy-opt %s --no-implicit-module 2>&1 | FileCheck %s --check-prefix=IMPLICIT
// RUN: sdy-opt %s -o %t.module.mlir
// RUN: sdy-opt %t.module.mlir --no-implicit-module | FileCheck %s --check-prefix=MODULE
// RUN: sdy-opt %s --pass-pipeline='func.func(cse)' --log-actions-to=- -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOG
// RUN: sdy-opt %s --pass-pipeline='func.func(cse)' --mlir-timing --mlir-output-format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: not sdy-opt %s --debug-only=x 2>&1 | FileCheck %s --check-prefix=DEBUG
// RUN: not sdy-opt %s -load-pass-plugin x 2>&1 | FileCheck %s --check-prefix=PLUGIN
// RUN: sdy-opt --help-hidden | FileCheck %s --check-prefix=HELP

// UNIQUE:      func.func @f(%[[F:[a-z]+0]]: tensor<4xf32>)
// UNIQUE-NEXT: %[[A:.*]] = stablehlo.abs %[[F]] : tensor<4xf32> // user: func.return
// UNIQUE:      func.func @g(%[[G:[a-z]+1]]: tensor<4xf32>)
// UNIQUE-NEXT: %[[B:.*]] = stablehlo.abs %[[G]]

// COMBINED: sdy-opt: error: '--mlir-print-unique-ssa-ids' cannot be combined with '--mlir-print-debuginfo'
// IMPLICIT: mlir_flags.mlir:1:1: error: the program has no 'module' around its operations
// MODULE: module {

// LOG:      [thread main] begins (no breakpoint) Action `pass-execution` running `Cse` on Operation `func.func`
// LOG-NEXT: [thread main] completed `pass-execution`

// JSON:      "name": "Imports"
// JSON:      "name": "'func.func' Pipeline",
// JSON-NEXT: "passes": [
// JSON-NEXT: {
// JSON:      "name": "Cse",
// JSON-NEXT: "passes": []
// JSON:      "name": "Total"

// DEBUG: sdy-opt: error: the flag '--debug-only' of mlir-opt isn't supported: it needs an MLIR that is built with assertions; use --verbose
// PLUGIN: the flag '--load-pass-plugin' of mlir-opt isn't supported: passes are written in Python; use --load-passes=FILE.py

// HELP: Input and output:
// HELP: Running passes:
// HELP: Watching passes:
// HELP: About the tool:
// HELP-NOT: {{^(Input|Running|Watching)}}
// HELP: Pipelines:

func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.abs %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
