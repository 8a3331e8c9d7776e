// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s --pass-pipeline="builtin.module(sdy-partition-pipeline)" | FileCheck %s
// RUN: sdy-run %s | FileCheck %s --check-prefix=EXECUTED

sdy.mesh @mesh = <["x"=8]>

// The gates of a recurrent cell: gathering the operands of one product sends fewer bytes than
// completing it, but the operands of both are more than their sum.
// CHECK-LABEL: @main
// CHECK-NOT: stablehlo.all_gather
// CHECK: stablehlo.all_reduce
// CHECK-NOT: stablehlo.all_
// CHECK: return
// EXECUTED: all_reduce
// EXECUTED-NOT: all_gather
func.func @main(
    %x: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %h: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %w: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %u: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<32x32xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
  %1 = stablehlo.dot_general %h, %u, contracting_dims = [1] x [0]
    : (tensor<32x32xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
  %2 = stablehlo.add %0, %1 : tensor<32x128xf32>
  return %2 : tensor<32x128xf32>
}

// One of these products has its operands gathered.
// CHECK-LABEL: @one_product
// CHECK-COUNT-2: stablehlo.all_gather
// CHECK-NOT: stablehlo.all_reduce
// CHECK: return
func.func @one_product(
    %x: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %w: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<32x32xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
  return %0 : tensor<32x128xf32>
}
