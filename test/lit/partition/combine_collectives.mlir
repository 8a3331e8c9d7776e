// RUN: sdy-opt %s "-pass-pipeline=builtin.module(func.func(sdy-combine-collectives))" | FileCheck %s
// RUN: sdy-opt %s "-pass-pipeline=builtin.module(func.func(sdy-combine-collectives{max-bytes=8}))" | FileCheck %s --check-prefix=SMALL

// CHECK-LABEL: func.func @independent
// CHECK-NEXT: %0 = stablehlo.negate %arg1
// CHECK-NEXT: %1:2 = "stablehlo.all_reduce"(%arg0, %0)
// CHECK: %2 = stablehlo.negate %1#0
// CHECK-NEXT: return %2, %1#1
// SMALL-LABEL: func.func @independent
// SMALL: "stablehlo.all_reduce"(%arg0)
// SMALL: "stablehlo.all_reduce"(%1)
func.func @independent(%arg0: tensor<2xf32>, %arg1: tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.negate %arg1 : tensor<4xf32>
  %2 = "stablehlo.all_reduce"(%1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.negate %0 : tensor<2xf32>
  return %3, %2 : tensor<2xf32>, tensor<4xf32>
}

// The second one needs the first; the groups of the third are others.
// CHECK-LABEL: func.func @apart
// CHECK: "stablehlo.all_gather"(%arg0)
// CHECK: "stablehlo.all_gather"(%0)
// CHECK: "stablehlo.all_gather"(%arg0)
func.func @apart(%arg0: tensor<2xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  %2 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<8xf32>, tensor<4xf32>
}
