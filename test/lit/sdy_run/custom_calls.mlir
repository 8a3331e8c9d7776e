// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-run %s --custom-call=my_scale=%S/Inputs/kernels.py:scale --custom-call=my_both=%S/Inputs/kernels.py:both | FileCheck %s
// RUN: not sdy-run %s --custom-call=my_scale=%S/Inputs/kernels.py:scale 2>&1 | FileCheck %s --check-prefix=LACK
// RUN: not sdy-run %s --custom-call=my_scale=%S/Inputs/kernels.py:whole --custom-call=my_both=%S/Inputs/kernels.py:both 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not sdy-run %s --custom-call=my_scale 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not sdy-run %s --custom-call=my_scale=%S/Inputs/kernels.py:none 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not sdy-run %s --custom-call=my_scale=%S/Inputs/missing.py:scale 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not sdy-run %s --custom-call=my_scale=%S/Inputs/no_python.txt:scale 2>&1 | FileCheck %s --check-prefix=PYTHON

// CHECK: Outputs
// CHECK: result 0 {{.*}}tensor<4x4xf32> {{.*}} OK
// CHECK: result 1 {{.*}}tensor<4x4xf32> {{.*}} OK
// LACK: custom_calls.mlir:27:10: error: the reference interpreter can't run 'stablehlo.custom_call'
// LACK: note: implement it by a Python function of NumPy arrays: 'sdy-run --custom-call=my_both=FILE:FUNCTION', or in Python CompileOptions(custom_calls={'my_both': function})
// SHAPE: custom_calls.mlir:24:8: error: the function for the custom call '@my_scale' returned float32 of shape (8, 4) for result 0, which is tensor<4x4xf32>
// SHAPE: note: it computes the shards of one device; a keyword-only parameter 'call' has their types
// SYNTAX: sdy-run: error: '--custom-call=my_scale' must be TARGET=FILE:FUNCTION
// NAME: sdy-run: error: '{{.*}}kernels.py' has no function 'none' for '--custom-call=my_scale=
// MISSING: sdy-run: error: cannot read the functions for custom calls in '{{.*}}missing.py': No such file or directory
// PYTHON: no_python.txt:1:{{[0-9]+}}: error: the file of functions for custom calls is not valid Python
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %f: tensor<4xf32>)
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<8x4xf32>) {
  %0 = stablehlo.custom_call @my_scale(%x, %f) {
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [j])->([i, j]) {i=8, j=4}, custom>
  } : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %1:2 = stablehlo.custom_call @my_both(%0) {
    api_version = 4 : i32, backend_config = {base = 2.0 : f32},
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=8, j=4}, custom>
  } : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %1#0, %1#1 : tensor<8x4xf32>, tensor<8x4xf32>
}
