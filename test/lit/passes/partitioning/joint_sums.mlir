// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s --pass-pipeline="builtin.module(sdy-partition-pipeline)" | FileCheck %s
// RUN: sdy-run %s | FileCheck %s --check-prefix=EXECUTED

sdy.mesh @mesh = <["model"=2]>

// The sum is completed for the large product, so that the small ones stay partial, too.
// CHECK-LABEL: @main
// CHECK-NOT: all_gather
// CHECK-COUNT-3: stablehlo.dot_general
// CHECK: stablehlo.all_reduce
// CHECK-NOT: stablehlo.all_
// CHECK: return
// EXECUTED: all_reduce
// EXECUTED-NOT: all_gather
func.func @main(
    %k: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %v: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %q: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %wk: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %wv: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %wq: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %k, %wk, contracting_dims = [1] x [0]
    : (tensor<64x8xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.dot_general %wv, %v, contracting_dims = [1] x [1]
    : (tensor<32x8xf32>, tensor<64x8xf32>) -> tensor<32x64xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<64x32xf32>
  %4 = stablehlo.dot_general %q, %wq, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %5 = stablehlo.add %3, %4 : tensor<64x32xf32>
  return %5 : tensor<64x32xf32>
}

// The all-reduce of the first product is there already when the second one is visited.
// CHECK-LABEL: @large_product_first
// CHECK-NOT: all_gather
// CHECK: stablehlo.all_reduce
// CHECK-NOT: stablehlo.all_
// CHECK: return
func.func @large_product_first(
    %k: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %q: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %wk: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %wq: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %q, %wq, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.dot_general %k, %wk, contracting_dims = [1] x [0]
    : (tensor<64x8xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

// A sum with a complete addend is completed before it is added, so that both products are alone.
// CHECK-LABEL: @complete_addend
// CHECK-DAG: stablehlo.all_gather
// CHECK-DAG: stablehlo.all_reduce
// CHECK: return
func.func @complete_addend(
    %k: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %q: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %r: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %wk: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %wq: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %k, %wk, contracting_dims = [1] x [0]
    : (tensor<64x8xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.add %r, %0 : tensor<64x32xf32>
  %2 = stablehlo.dot_general %q, %wq, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %3 = stablehlo.add %1, %2 : tensor<64x32xf32>
  return %3 : tensor<64x32xf32>
}
