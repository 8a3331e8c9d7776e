// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s --sdy-dynamic-to-static=sizes=b:6 | FileCheck %s
// RUN: sdy-opt %s --sdy-dynamic-to-static | FileCheck %s --check-prefix=HINT
// RUN: sdy-opt %s --sdy-dynamic-to-static="sizes=b:6 capacity=true" | FileCheck %s --check-prefix=CAPACITY
// RUN: not sdy-opt %s --sdy-dynamic-to-static=sizes=b:5 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not sdy-opt %s --sdy-partition-pipeline 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not sdy-opt %s --sdy-dynamic-to-static="sizes=b:6" --sdy-dynamic-to-static="sizes=b:6 capacity=true" 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not sdy-opt %s --sdy-dynamic-to-static --sdy-annotate-sizes=symbols=b:1.. 2>&1 | FileCheck %s --check-prefix=SYMBOLS
// RUN: not sdy-opt %s --sdy-propagation-pipeline=dynamic=false 2>&1 | FileCheck %s --check-prefix=PROPAGATE
// RUN: sdy-run %s --size=b=10 --hint=b=64 | FileCheck %s --check-prefix=RUNS
// RUN: not sdy-run %s --size=b=10 --uneven=guard 2>&1 | FileCheck %s --check-prefix=GUARD
// RUN: sdy-run %s --size=b=10 --buckets=b=pow2 | FileCheck %s --check-prefix=BUCKETS
// RUN: not sdy-run %s --buckets=b=pow3 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not sdy-run %s --buckets=c=4,8 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: sdy-explain %s --size=b=8 --value=x | FileCheck %s --check-prefix=EXPLAIN

// ERROR: error: b = 5 is no multiple of 2; use b = 4 or 6
// CAPACITY: @main(%arg0: tensor<6x16xf32>{{.*}}, %arg1: tensor<i32>) -> tensor<24x4xf32>
// PARTITION: dynamic_to_static.mlir:41:19: error: an argument of type tensor<?x16xf32> has no local type: 'sdy.partition' partitions the program for each size, and --sdy-dynamic-to-static=sizes=NAME:N makes it static
// STATIC: error: the program has no dynamic sizes, so it takes no 'sizes' and 'capacity'
// SYMBOLS: error: the program has no dynamic sizes, so it takes no 'symbols'
// PROPAGATE: only supports ranked tensors with a static shape. type: 'tensor<?x16xf32>'
// PROPAGATE: note: 'sdy.propagate' or --sdy-propagation-pipeline finds one plan for all sizes; --sdy-dynamic-to-static=sizes=NAME:N makes it static
// RUNS: %x {{ +}}tensor<12x16xf32>
// RUNS: OK: the results match those of the unpartitioned program
// GUARD: error: dimension 0 of %x has size 10, which 4 doesn't divide: it is sharded along "data"; use 8 or 12, or uneven='pad'
// BUCKETS: %x {{ +}}tensor<16x16xf32>
// BUCKETS: OK: the results match those of the unpartitioned program
// FORM: error: --buckets: 'b=pow3' gives no buckets: expected NAME=N,N,... such as b=4,16,64; did you mean 'pow2'
// SYMBOL: error: buckets: the program has no size 'c'; it has b
// EXPLAIN: x is %x

module attributes {sdy.symbols = {b = {max = 64, multiple_of = 2, hint = 32}}} {
  sdy.mesh @mesh = <["data"=4, "model"=2]>

  // CHECK-NOT: sdy.symbols
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}
  // CHECK-SAME: -> tensor<24x4xf32>
  // HINT: tensor<32x16xf32> {sdy.sharding
  func.func @main(%x: tensor<?x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>, sdy.sizes = ["b", ""]}) -> tensor<?x4xf32> {
    // CHECK: %[[T:.*]] = stablehlo.tanh %arg0 : tensor<6x16xf32>
    // CHECK: sdy.sharding_constraint %[[T]] <@mesh, [{"data"}, {?}]> : tensor<6x16xf32>
    // CHECK: stablehlo.reshape %{{.*}} : (tensor<6x16xf32>) -> tensor<24x4xf32>
    %0 = func.call @f(%x) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {?}]> : tensor<?x16xf32>
    %2 = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?x16xf32>) -> tensor<i32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %3 = stablehlo.multiply %2, %four : tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.reshape %four : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.concatenate %4, %5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %7 = stablehlo.dynamic_reshape %1, %6 : (tensor<?x16xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    return %7 : tensor<?x4xf32>
  }

  // CHECK-NOT: @f
  func.func private @f(%a: tensor<?x16xf32>) -> tensor<?x16xf32> {
    %0 = stablehlo.tanh %a : tensor<?x16xf32>
    return %0 : tensor<?x16xf32>
  }
}
