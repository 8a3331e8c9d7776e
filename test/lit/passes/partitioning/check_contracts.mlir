// RUN: sdy-opt %s -sdy-mark-contracts -mlir-print-debuginfo -mlir-print-local-scope -split-input-file | FileCheck %s --check-prefix=MARK
// RUN: not sdy-opt %s -sdy-propagation-pipeline -sdy-partition-pipeline -split-input-file 2>&1 | FileCheck %s --check-prefix=CHECK

// The operations in the loop are marked, but not the loop.

sdy.mesh @mesh = <["x"=4]>

// MARK: module attributes {sdy.contracts = [{limits = ["no collectives"]}]}
// MARK: stablehlo.while
// MARK: stablehlo.dot_general {{.*}} loc("pyshardy.contract#0"(
// MARK: return {{.*}} loc("
// MARK-NOT: sdy.contract =
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: {{.*}}:35: error: the contract 'no collectives' is violated: found 1 collective, 576 bytes sent
  // CHECK: {{.*}}:35: note: all_gather along x at {{.*}}: 192 bytes sent, executed 3 times
  %r:2 = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<8x8xf32> attributes {sdy.contract = {limits = ["no collectives"]}}
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8x8xf32>
  }
  return %r#1 : tensor<8x8xf32>
}

// -----

// A loop invariant is gathered once, before the loop, and still counts.

sdy.mesh @mesh = <["x"=4]>

// MARK: func.func @main
func.func @main(%a: tensor<8x8xf32>, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<8x8xf32> attributes {sdy.contract = {limits = ["no all_gather"]}}
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    // CHECK: {{.*}}:10: error: the contract 'no all_gather' is violated: found 1 collective, 192 bytes sent
    %g = sdy.sharding_constraint %w <@mesh, [{}, {}]> : tensor<8x8xf32>
    %y = stablehlo.dot_general %x, %g, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8x8xf32>
  }
  return %r#1 : tensor<8x8xf32>
}
