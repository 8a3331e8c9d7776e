// RUN: sdy-opt %s -sdy-pad-for-divisibility | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Padding comes with the slice, and is cut off behind the gather.
// CHECK-LABEL: func.func @slice_and_gather
func.func @slice_and_gather(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  // CHECK: %[[PAD:.*]] = stablehlo.pad %arg0, %cst, low = [0], high = [1], interior = [0]
  // CHECK-NEXT: %[[ALL_SLICE:.*]] = sdy.all_slice [{"x"}] %[[PAD]] out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %[[ALL_SLICE]] {{.*}} : tensor<8xf32>
  // CHECK-NEXT: %[[ALL_GATHER:.*]] = sdy.all_gather [{"x"}] %[[NEGATE]] out_sharding=<@mesh, [{}]> : tensor<8xf32>
  // CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %[[ALL_GATHER]] [0:7] {{.*}} : (tensor<8xf32>) -> tensor<7xf32>
  // CHECK-NEXT: return %[[SLICE]]
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : tensor<7xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %2 : tensor<7xf32>
}

// The padding of %0 is zero, that of %1 is not.
// CHECK-LABEL: func.func @contraction
func.func @contraction(%arg0: tensor<7xf32>) -> tensor<f32> {
  // CHECK: %[[SLICE:.*]] = sdy.all_slice
  // CHECK-NEXT: %[[COSINE:.*]] = stablehlo.cosine %[[SLICE]]
  // CHECK-NEXT: %[[ZERO:.*]] = stablehlo.constant dense<0.0
  // CHECK-NEXT: %[[AT:.*]] = stablehlo.iota dim = 0 {{.*}}[{"x"}]{{.*}} : tensor<8xi32>
  // CHECK-NEXT: %[[SIZE:.*]] = stablehlo.constant dense<7> : tensor<i32>
  // CHECK-NEXT: %[[END:.*]] = stablehlo.broadcast_in_dim %[[SIZE]], dims = [] {{.*}} -> tensor<8xi32>
  // CHECK-NEXT: %[[INSIDE:.*]] = stablehlo.compare LT, %[[AT]], %[[END]]
  // CHECK-NEXT: %[[ZEROS:.*]] = stablehlo.broadcast_in_dim %[[ZERO]], dims = []
  // CHECK-NEXT: %[[MASKED:.*]] = stablehlo.select %[[INSIDE]], %[[COSINE]], %[[ZEROS]]
  // CHECK-NEXT: stablehlo.dot %[[SLICE]], %[[MASKED]]
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %1 = stablehlo.cosine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : tensor<7xf32>
  %2 = stablehlo.dot %0, %1 : (tensor<7xf32>, tensor<7xf32>) -> tensor<f32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, []> : tensor<f32>
  return %3 : tensor<f32>
}

// A reduction begins with its initial value anyway.
// CHECK-LABEL: func.func @reduction
// CHECK-SAME: %[[INIT:arg1]]: tensor<f32>
func.func @reduction(%arg0: tensor<7xf32>, %arg1: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[FILLING:.*]] = stablehlo.broadcast_in_dim %[[INIT]], dims = []
  // CHECK-NEXT: %[[MASKED:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[FILLING]]
  // CHECK-NEXT: stablehlo.reduce(%[[MASKED]] init: %[[INIT]]) applies stablehlo.maximum
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %1 = stablehlo.reduce(%0 init: %arg1) applies stablehlo.maximum across dimensions = [0]
    : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  %2 = sdy.all_reduce max {"x"} %1 out_sharding=<@mesh, []> : tensor<f32>
  return %2 : tensor<f32>
}

// CHECK-LABEL: func.func @integer_division
func.func @integer_division(%arg0: tensor<7xi32>) -> tensor<7xi32> {
  // CHECK: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: %[[ONES:.*]] = stablehlo.broadcast_in_dim %[[ONE]]
  // CHECK-NEXT: %[[DIVISOR:.*]] = stablehlo.select %{{.*}}, %[[SLICE:.*]], %[[ONES]]
  // CHECK-NEXT: stablehlo.divide %[[SLICE]], %[[DIVISOR]]
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<7xi32>
  %1 = stablehlo.divide %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : tensor<7xi32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<7xi32>
  return %2 : tensor<7xi32>
}

// In a reshape that merges it, the padding would be in the middle.
// CHECK-LABEL: func.func @reshape
func.func @reshape(%arg0: tensor<5x3xf32>) -> tensor<15xf32> {
  // CHECK: %[[PADDED:.*]] = sdy.all_gather [{"x"}, {}] %{{.*}} : tensor<8x3xf32>
  // CHECK-NEXT: %[[WHOLE:.*]] = stablehlo.slice %[[PADDED]] [0:5, 0:3]
  // CHECK-NEXT: stablehlo.reshape %[[WHOLE]] {{.*}}[{}]{{.*}} : (tensor<5x3xf32>) -> tensor<15xf32>
  // CHECK: stablehlo.pad %{{.*}}, low = [0], high = [1], interior = [0]
  // CHECK-NEXT: sdy.all_slice [{"x"}]
  %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<5x3xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : (tensor<5x3xf32>) -> tensor<15xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<15xf32>
  return %2 : tensor<15xf32>
}

// Two devices hold 3 of 5 elements each, but four of them hold 2: the second pair begins elsewhere.
// CHECK-LABEL: func.func @shards_that_begin_elsewhere
func.func @shards_that_begin_elsewhere(%arg0: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK: %[[ALL_SLICE:.*]] = sdy.all_slice [{"y"}] %[[VALUE:[0-9]+]] out_sharding=<@mesh, [{"y"}]> : tensor<6xf32>
  // CHECK-NEXT: %[[ALL_GATHER:.*]] = sdy.all_gather [{"y"}] %[[ALL_SLICE]] out_sharding=<@mesh, [{}]> : tensor<6xf32>
  // CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %[[ALL_GATHER]] [0:5]
  // CHECK: %[[PAD:.*]] = stablehlo.pad %[[SLICE]], %{{.*}}, low = [0], high = [3], interior = [0]
  // CHECK-NEXT: %[[ALL_SLICE_1:.*]] = sdy.all_slice [{"y", "x"}] %[[PAD]] out_sharding=<@mesh, [{"y", "x"}]> : tensor<8xf32>
  %0 = sdy.all_slice [{"y"}] %arg0 out_sharding=<@mesh, [{"y"}]> : tensor<5xf32>
  %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"y", "x"}]> : tensor<5xf32>
  %2 = sdy.all_gather [{"y", "x"}] %1 out_sharding=<@mesh, [{}]> : tensor<5xf32>
  return %2 : tensor<5xf32>
}

// Shards of 2 elements are shards of one row of 2, and padding is behind both.
// CHECK-LABEL: func.func @padding_agrees
func.func @padding_agrees(%arg0: tensor<6xf32>) -> tensor<3x2xf32> {
  // CHECK: %[[SLICE:.*]] = sdy.all_slice [{"x"}] %{{.*}} : tensor<8xf32>
  // CHECK-NEXT: %[[ROWS:.*]] = stablehlo.reshape %[[SLICE]] {{.*}} : (tensor<8xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: sdy.all_gather [{"x"}, {}] %[[ROWS]]
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<6xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<6xf32>) -> tensor<3x2xf32>
  %2 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// The interfaces of private functions are padded, too. Their padding is unknown.
// CHECK-LABEL: func.func @caller
func.func @caller(%arg0: tensor<7xf32>) -> tensor<f32> {
  // CHECK: %[[SLICE:.*]] = sdy.all_slice [{"x"}] %{{.*}} : tensor<8xf32>
  // CHECK-NEXT: call @callee(%[[SLICE]]) : (tensor<8xf32>) -> tensor<f32>
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %1 = call @callee(%0) : (tensor<7xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func private @callee(%arg0: tensor<8xf32>
func.func private @callee(%arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<f32> {
  // CHECK: %[[MASKED:.*]] = stablehlo.select %{{.*}}, %arg0
  // CHECK: stablehlo.dot %[[MASKED]]
  %0 = stablehlo.dot %arg0, %arg0 : (tensor<7xf32>, tensor<7xf32>) -> tensor<f32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, []> : tensor<f32>
  return %1 : tensor<f32>
}
