// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s --sdy-propagation-pipeline 2>&1 | FileCheck %s
// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-partition-pipeline 2>/dev/null | FileCheck %s --check-prefix=LOCAL
// RUN: not sdy-opt %s --sdy-propagation-pipeline=compatible=true 2>&1 | FileCheck %s --check-prefix=COMPATIBLE
// RUN: sdy-run %s --backend=xla 2>/dev/null | FileCheck %s --check-prefix=RUNS
// RUN: sed "s/%n: tensor<i32>/%n: tensor<i32>, %k: tensor<?xf32, #stablehlo.bounds<8>>/" %s | sdy-opt --sdy-propagation-pipeline 2>/dev/null | FileCheck %s --check-prefix=ARGUMENT

// The sizes of `%1` and `%2` depend on data: they are replicated, and the weights around them keep
// their shardings.

// CHECK: warning: no sharding rule for this 'stablehlo.tanh': tensor<?x8xf32> has dynamic dimensions; so that it is replicated: data determine its sizes within their bounds
// CHECK: func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}
// CHECK-SAME: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}
// CHECK-SAME: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}
// CHECK: dot_general %arg0
// CHECK-SAME: [{"data"}, {"model"}]

// LOCAL: func.func @main(%arg0: tensor<2x16xf32>, %arg1: tensor<i32>, %arg2: tensor<16x4xf32>, %arg3: tensor<4x4xf32>)
// LOCAL: set_dimension_size
// LOCAL-SAME: -> tensor<?x8xf32, #stablehlo.bounds<8, ?>>
// LOCAL: all_reduce

// COMPATIBLE: only supports ranked tensors with a static shape. type: 'tensor<?x8xf32, #stablehlo.bounds<8, ?>>'
// RUNS: OK: the results match those of the unpartitioned program
// ARGUMENT: tensor<?xf32, #stablehlo.bounds<8>>

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %n: tensor<i32>,
    %up: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %down: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.set_dimension_size %0, %n, dim = 0 : (tensor<8x8xf32>, tensor<i32>) -> tensor<?x8xf32, #stablehlo.bounds<8, ?>>
  %2 = stablehlo.tanh %1 : tensor<?x8xf32, #stablehlo.bounds<8, ?>>
  %c = stablehlo.constant dense<8> : tensor<i32>
  %3 = stablehlo.set_dimension_size %2, %c, dim = 0 : (tensor<?x8xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<8x8xf32>
  %4 = stablehlo.dot_general %3, %down, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
