// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By name, and the outputs go in again, by position.
// RUN: %python %S/Inputs/make_arrays.py %t.in.npz "weights=np.arange(8,dtype='f4')" "arg1=np.full(8,3,'i4')"
// RUN: sdy-run %s --inputs=%t.in.npz --outputs=%t.out.npz | FileCheck %s
// RUN: %python -c "import numpy; f = numpy.load('%t.out.npz'); [print(k, f[k].tolist()) for k in f]" | FileCheck %s --check-prefix=OUT
// RUN: %python %S/Inputs/make_arrays.py %t.arr.npz "arr_0=np.ones(8,'f4')" "arr_1=np.ones(8,'i4')"
// RUN: sdy-run %s --inputs=%t.arr.npz | FileCheck %s

// RUN: %python %S/Inputs/make_arrays.py %t.npz "weights=np.arange(9,dtype='f4')" "arg1=np.full(8,3,'i4')"
// RUN: not sdy-run %s --inputs=%t.npz 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: %python %S/Inputs/make_arrays.py %t.npz "weights=np.arange(8,dtype='f8')" "arg1=np.full(8,3,'i4')"
// RUN: not sdy-run %s --inputs=%t.npz 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: %python %S/Inputs/make_arrays.py %t.npz "weights=np.arange(8,dtype='f4')"
// RUN: not sdy-run %s --inputs=%t.npz 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not sdy-run %s --inputs=%s 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not sdy-run %s --inputs=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %python %S/Inputs/make_arrays.py %t.npz "weights=np.arange(8,dtype='f4')" "arg1=np.full(8,3,'i4')" "bias=np.ones(2)"
// RUN: not sdy-run %s --inputs=%t.npz 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: OK: the results match those of the unpartitioned program
// OUT: result 0 [6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0]
// SHAPE: sdy-run: error: 'weights' in '{{.*}}' has shape (9,), but the program expects weights, float32 of shape (8,)
// DTYPE: sdy-run: error: 'weights' in '{{.*}}' holds float64, but the program expects weights, float32 of shape (8,)
// MISSING: sdy-run: error: '{{.*}}' has no array 'i' for %i, int32 of shape (8,); it has: 'weights'
// KIND: sdy-run: error: cannot read the inputs from '{{.*}}': it is not an .npz or .npy file of plain arrays
// NONE: sdy-run: error: cannot read the inputs from '{{.*}}': No such file or directory
// UNKNOWN: sdy-run: error: '{{.*}}' has an array 'bias', which matches no argument; the arguments are: 'weights', 'i'
sdy.mesh @mesh = <["x"=2]>

func.func @main(
    %w: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("weights"),
    %i: tensor<8xi32>) -> tensor<8xf32> {
  %0 = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf32>
  %1 = stablehlo.add %w, %w : tensor<8xf32>
  %2 = stablehlo.add %0, %0 : tensor<8xf32>
  %3 = stablehlo.add %1, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
