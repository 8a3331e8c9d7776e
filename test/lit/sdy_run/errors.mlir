// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not sdy-run %s 2>&1 | FileCheck %s
// RUN: not sdy-run %s.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not sdy-run %s --backend=nothing 2>&1 | FileCheck %s --check-prefix=BACKEND
// RUN: not sdy-run %s --backend=xla-gpu 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: not env PYTHONPATH=%S/Inputs/without_iree:%{pythonpath} sdy-run %s --backend=iree 2>&1 | FileCheck %s --check-prefix=PACKAGE
// RUN: not env PYTHONPATH=%S/Inputs/without_iree:%{pythonpath} sdy-run %s --emit=vmfb -o %t 2>&1 | FileCheck %s --check-prefix=PACKAGE
// RUN: not sdy-run %s -o %t 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not sdy-run %s --emit=stablehlo -o %t.missing/file 2>&1 | FileCheck %s --check-prefix=WRITE
// RUN: not sdy-run %s --backend=interpretr 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not sdy-run %s --backnd=xla 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not sdy-run - < /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not sdy-run %s --profile=0 2>&1 | FileCheck %s --check-prefix=PROFILE
// RUN: not sdy-run %s --emit=stablehlo --outputs=%t 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: not sdy-run %s --emit=stablehlo --inputs=%t.npz 2>&1 | FileCheck %s --check-prefix=INPUTS
// RUN: not sdy-run %s --emit=stablehlo --target=cuda 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not sdy-run %s --compare --no-check 2>&1 | FileCheck %s --check-prefix=COMPARE

// CHECK: errors.mlir:36:8: error: the reference interpreter can't run 'stablehlo.custom_call'
// CHECK-NEXT: %[[CUSTOM_CALL:.*]] = stablehlo.custom_call
// CHECK: note: implement it by a Python function of NumPy arrays: 'sdy-run --custom-call=unheard_of=FILE:FUNCTION'
// NEAR: sdy-run: error: argument --backend: invalid choice: 'interpretr' {{.*}}; did you mean 'interpreter'?; see sdy-run --help
// FLAG: sdy-run: error: unknown flag '--backnd=xla'; did you mean '--backend'?; see sdy-run --help
// EMPTY: <stdin>: error: the file is empty
// MISSING: sdy-run: error: cannot open input file
// BACKEND: sdy-run: error: argument --backend: invalid choice: 'nothing'
// GPU: sdy-run: error: XLA failed: the program runs on 2 GPU devices: {{.*}}; for GPUs install: pip install 'jax[cuda12]'; '--backend=xla' runs
// PACKAGE: sdy-run: error: the backend 'iree' needs the package 'iree-base-compiler', which is missing; install it by: pip install {{.*}}[iree]
// OUTPUT: sdy-run: error: '-o' requires '--emit'; use '--outputs' to write arrays
// WRITE: sdy-run: error: cannot write output file '{{.*}}': No such file or directory
// EMIT: sdy-run: error: '--outputs' is for programs that run: '--emit' runs none
// INPUTS: sdy-run: error: '--inputs' is for programs that run: '--emit' runs none
// TARGET: sdy-run: error: '--target' requires '--emit=vmfb'
// PROFILE: sdy-run: error: '--profile' is '0': expected an integer of at least 1
func.func @main(%x: tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<2x4x4xf32> {
  %0 = stablehlo.custom_call @unheard_of(%x) : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}
// COMPARE: sdy-run: error: '--compare' and '--no-check' cannot be combined
sdy.mesh @mesh = <["x"=2]>
