// RUN: sdy-opt %s -split-input-file "-sdy-pipeline-collectives=hardware=%S/Inputs/slow_hardware.toml" --remarks 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: sdy-opt %s -split-input-file "-sdy-pipeline-collectives=hardware=%S/Inputs/slow_hardware.toml peel=false" | FileCheck %s --check-prefix=CLAMPED
// RUN: sdy-opt %s -split-input-file "-sdy-pipeline-collectives=hardware=%S/Inputs/slow_hardware.toml memory=7200" --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=MEMORY
// RUN: sdy-opt %s -split-input-file "-sdy-pipeline-collectives=hardware=%S/Inputs/slow_hardware.toml min-gain=0.9" | FileCheck %s --check-prefix=LITTLE

// The weights go through a barrier together with the carried value, as those that `jax.checkpoint`
// recomputes with. The counter is the one of the next iteration, and the last one is peeled.
// CHECK-LABEL: func.func @main
// CHECK: %[[FIRST:.*]] = "stablehlo.all_gather"({{.*}} {sdy.peeled}
// CHECK: stablehlo.while({{.*}} = %[[FIRST]])
// CHECK: stablehlo.constant dense<4> : tensor<i32>
// CHECK: stablehlo.compare LT
// CHECK: %[[ONE:.*]] = stablehlo.constant dense<1>
// CHECK: %[[NEXT:.*]] = stablehlo.add %[[I:.*]], %[[ONE]]
// CHECK: %[[SLICE:.*]] = stablehlo.dynamic_slice %{{.*}}, %[[NEXT]]
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[SLICE]]
// CHECK: %[[START:.*]] = "stablehlo.async_start"(%[[ROW]])
// CHECK: "stablehlo.all_gather"
// CHECK: %[[H:.*]] = stablehlo.optimization_barrier %{{[a-zA-Z0-9_]+}} : tensor<4x4xf32>
// CHECK: stablehlo.dot_general %[[H]], %[[FETCHED:.*]], contracting_dims
// CHECK: %[[DONE:.*]] = "stablehlo.async_done"(%[[START]])
// CHECK: stablehlo.return {{.*}}, %[[DONE]]
// CHECK: stablehlo.constant dense<4> : tensor<i32>
// CHECK-NOT: all_gather
// CHECK: return

// CLAMPED-LABEL: func.func @main
// CLAMPED: stablehlo.constant dense<5> : tensor<i32>
// CLAMPED: stablehlo.compare LT
// CLAMPED: stablehlo.minimum
// CLAMPED: "stablehlo.async_start"
// CLAMPED: return %{{.*}}#2

// LITTLE-LABEL: func.func @main
// LITTLE-NOT: async_start

// REMARK: remark: all_gather along "devices" is prefetched: the loop takes {{.*}} us instead of {{.*}} us, the last iteration peeled
// MEMORY: remark: all_gather along "devices" is prefetched
func.func @main(%stack: tensor<5x2x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %start, %w = %stack, %h = %x) : tensor<i32>, tensor<5x2x4xf32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<5> : tensor<i32>
    %less = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 2, 4] : (tensor<5x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %2:2 = stablehlo.optimization_barrier %1, %h : tensor<2x4xf32>, tensor<4x4xf32>
    %3 = "stablehlo.all_gather"(%2#0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
    %4 = stablehlo.dot_general %2#1, %3, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %5 = stablehlo.tanh %4 : tensor<4x4xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %w, %5 : tensor<i32>, tensor<5x2x4xf32>, tensor<4x4xf32>
  }
  return %r#2 : tensor<4x4xf32>
}

// -----

// A gradient is written an iteration later: the first iteration stands before the loop, and the sum
// of the last one after it.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.dot_general
// CHECK-NOT: all_reduce
// CHECK: stablehlo.while
// CHECK: "stablehlo.async_start"(%[[UNREDUCED:.*]])
// CHECK: "stablehlo.all_reduce"
// CHECK-NOT: sdy.peeled
// CHECK: %[[AT:.*]] = stablehlo.subtract
// CHECK: %[[SUM:.*]] = "stablehlo.async_done"
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[SUM]]
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[ROW]], %[[AT]]
// CHECK: "stablehlo.all_reduce"
// CHECK: sdy.peeled
// CHECK: stablehlo.dynamic_update_slice
// CHECK: return

// CLAMPED-LABEL: func.func @main
// CLAMPED: %[[ZEROS:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8x8xf32>
// CLAMPED: stablehlo.while({{.*}} = %[[ZEROS]])
// CLAMPED: "stablehlo.async_start"

// REMARK: remark: all_reduce along "devices" is completed an iteration later: the loop takes {{.*}} instead of {{.*}}, the first iteration peeled
// MEMORY: remark: all_reduce along "devices" is not prefetched: no memory: needs {{.*}} bytes more
func.func @main(%x: tensor<8x8xf32>, %g: tensor<12x8x8xf32>) -> (tensor<8x8xf32>, tensor<12x8x8xf32>) {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %start, %h = %x, %t = %g) : tensor<i32>, tensor<8x8xf32>, tensor<12x8x8xf32>
  cond {
    %end = stablehlo.constant dense<12> : tensor<i32>
    %less = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.dot_general %h, %h, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %3 = stablehlo.dynamic_update_slice %t, %2, %i, %zero, %zero : (tensor<12x8x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<12x8x8xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %0, %3 : tensor<i32>, tensor<8x8xf32>, tensor<12x8x8xf32>
  }
  return %r#1, %r#2 : tensor<8x8xf32>, tensor<12x8x8xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-NOT: async_start
// REMARK: remark: all_reduce along "devices" is not prefetched: its operand depends on %{{.*}}, which the loop computes ({{.*}}pipeline_collectives.mlir:{{.*}})
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %start, %h = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %end = stablehlo.constant dense<5> : tensor<i32>
    %less = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.tanh %h : tensor<4xf32>
    %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// REMARK: remark: all_gather along "devices" is not prefetched: the number of iterations is unknown
func.func @main(%stack: tensor<5x2xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<4xf32>
  %r:3 = stablehlo.while(%i = %start, %w = %stack, %h = %init) : tensor<i32>, tensor<5x2xf32>, tensor<4xf32>
  cond {
    %less = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.dynamic_slice %w, %i, %zero, sizes = [1, 2] : (tensor<5x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    %3 = stablehlo.add %h, %2 : tensor<4xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %w, %3 : tensor<i32>, tensor<5x2xf32>, tensor<4xf32>
  }
  return %r#2 : tensor<4xf32>
}
