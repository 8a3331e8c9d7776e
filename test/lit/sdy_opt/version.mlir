// Every tool tells the versions of the package, of the MLIR host below it, and of Python.

// RUN: sdy-opt --version | FileCheck %s
// RUN: sdy-run --version | FileCheck %s
// RUN: sdy-explain --version | FileCheck %s
// RUN: sdy-translate --version | FileCheck %s

// CHECK: sdy-{{opt|run|explain|translate}}, pyshardy {{[0-9.a-z+]+}}
// CHECK-NEXT: MLIR host: torch-mlir {{[0-9]+}} (LLVM {{[0-9.a-z]+}}, StableHLO {{[0-9.]+}})
// CHECK-NEXT: Python 3.{{[0-9]+}}
