// RUN: sdy-opt %s "-pass-pipeline=builtin.module(func.func(sdy-combine-collectives))" | FileCheck %s
// RUN: sdy-opt %s "-pass-pipeline=builtin.module(func.func(sdy-combine-collectives{max-bytes=8}))" | FileCheck %s --check-prefix=SMALL

// CHECK-LABEL: func.func @independent
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg1
// CHECK-NEXT: %[[ALL_REDUCE:.*]]:2 = "stablehlo.all_reduce"(%arg0, %[[NEGATE]])
// CHECK: %[[NEGATE_1:.*]] = stablehlo.negate %[[ALL_REDUCE]]#0
// CHECK-NEXT: return %[[NEGATE_1]], %[[ALL_REDUCE]]#1
// SMALL-LABEL: func.func @independent
// SMALL: "stablehlo.all_reduce"(%arg0)
// SMALL: "stablehlo.all_reduce"(%[[VALUE:[0-9]+]])
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
// CHECK: "stablehlo.all_gather"(%[[VALUE:[0-9]+]])
// CHECK: "stablehlo.all_gather"(%arg0)
func.func @apart(%arg0: tensor<2xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  %2 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<8xf32>, tensor<4xf32>
}

// What needs the first one moves behind the combined one; what the second one needs stays before it.
// CHECK-LABEL: func.func @neither_waits
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg1
// CHECK-NEXT: %[[ALL_GATHER:.*]]:2 = "stablehlo.all_gather"(%arg0, %[[NEGATE]])
// CHECK-NEXT: %[[NEGATE_1:.*]] = stablehlo.negate %[[ALL_GATHER]]#0
// CHECK-NEXT: %[[NEGATE_2:.*]] = stablehlo.negate %[[NEGATE_1]]
// CHECK-NEXT: return %[[NEGATE_2]], %[[ALL_GATHER]]#1
func.func @neither_waits(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.negate %1 : tensor<4xf32>
  %3 = stablehlo.negate %arg1 : tensor<2xf32>
  %4 = "stablehlo.all_gather"(%3) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return %2, %4 : tensor<4xf32>, tensor<4xf32>
}

// The two of dimension 0 can't be one: the gather of dimension 1 would need it and be needed by it.
// CHECK-LABEL: func.func @no_cycle
// CHECK-COUNT-2: all_gather_dim = {{[01]}}
// CHECK: all_gather_dim
// CHECK: return
func.func @no_cycle(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x2xf32>) -> tensor<4x4xf32>
  %2 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x4xf32>
  %3 = "stablehlo.all_gather"(%2) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
  return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// The second gather of a chain moves behind the bundle of the first, and so does what needs it.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[BOTH:.*]]:2 = "stablehlo.all_gather"(%arg0, %arg1)
// CHECK-NEXT: %[[WHOLE:.*]] = "stablehlo.all_gather"(%[[BOTH]]#0)
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %[[WHOLE]]
// CHECK-NEXT: return %[[NEGATE]], %[[BOTH]]#1
func.func @chain(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>) -> (tensor<4x4xf32>, tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x4xf32>
  %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.negate %1 : tensor<4x4xf32>
  %3 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x4xf32>
  return %2, %3 : tensor<4x4xf32>, tensor<2x4xf32>
}
