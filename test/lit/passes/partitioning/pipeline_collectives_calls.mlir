// RUN: sdy-opt %s "-sdy-pipeline-collectives=hardware=%S/Inputs/slow_hardware.toml" | FileCheck %s

// The gather is in a function that the loop calls, through another one, and the program once more.
// CHECK-LABEL: func.func @main
// CHECK: "stablehlo.all_gather"({{.*}} {sdy.peeled}
// CHECK: stablehlo.while
// CHECK: "stablehlo.async_start"
// CHECK: "stablehlo.all_gather"
// CHECK: call @outer
// CHECK: func.func private @outer
// CHECK: func.func private @layer
func.func @main(%stack: tensor<5x2x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %start, %w = %stack, %h = %x) : tensor<i32>, tensor<5x2x4xf32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<5> : tensor<i32>
    %less = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = func.call @outer(%w, %i, %h) : (tensor<5x2x4xf32>, tensor<i32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1, %w, %0 : tensor<i32>, tensor<5x2x4xf32>, tensor<4x4xf32>
  }
  %again = func.call @outer(%stack, %start, %r#2) : (tensor<5x2x4xf32>, tensor<i32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %again : tensor<4x4xf32>
}
func.func private @outer(%w: tensor<5x2x4xf32>, %i: tensor<i32>, %h: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = func.call @layer(%w, %i, %h) : (tensor<5x2x4xf32>, tensor<i32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @layer(%w: tensor<5x2x4xf32>, %i: tensor<i32>, %h: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 2, 4] : (tensor<5x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.dot_general %h, %2, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
