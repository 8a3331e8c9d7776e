// RUN: not sdy-translate %s --to=portable --target-version=0.9.0 -o %t 2>&1 | FileCheck %s --check-prefix=NEW
// NEW: errors.mlir:{{[0-9]+}}:8: error: cannot write the program for StableHLO 0.9.0: failed to legalize operation 'stablehlo.tan_v2' that was explicitly marked illegal

// RUN: not sdy-translate %s --to=portable --target-version=1.2 2>&1 -o %t | FileCheck %s --check-prefix=VERSION
// VERSION: sdy-translate: error: '1.2' is not a version of StableHLO: expected 'current', 'minimum' or three numbers, as in

// RUN: not sdy-translate %s --to=portable --target-version=99.0.0 -o %t 2>&1 | FileCheck %s --check-prefix=FUTURE
// FUTURE: sdy-translate: error: portable artifacts support StableHLO 0.9.0 to {{[0-9.]+}}, not 99.0.0

// RUN: not sdy-translate %s --target-version=1.0.0 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: sdy-translate: error: '--target-version' requires '--to=portable'

// RUN: not sdy-translate %s --to=hlo 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: sdy-translate: error: argument --to: invalid choice: 'hlo'

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tan %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: not sdy-translate %S/Inputs/nowhere.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: sdy-translate: error: cannot open input file '{{.*}}nowhere.mlir': No such file or directory

// RUN: not sdy-translate %s -o %t.folder/nowhere 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: sdy-translate: error: cannot write output file '{{.*}}nowhere': No such file or directory

// RUN: printf 'ML\xefR\rStableHLO_v1.0.0\0\001rest' > %t.broken
// RUN: not sdy-translate %t.broken 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: errors.mlir.tmp.broken: error: cannot read the portable artifact:

// RUN: printf 'ML\xefR\rMLIR24\0\001rest' > %t.bytes
// RUN: not sdy-translate %t.bytes 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: errors.mlir.tmp.bytes: error:

// RUN: printf 'module {\n \xff }' > %t.noise
// RUN: not sdy-translate %t.noise 2>&1 | FileCheck %s --check-prefix=NOISE
// NOISE: errors.mlir.tmp.noise:2:{{[0-9]+}}: error: the file is neither bytecode nor UTF-8 text
