// RUN: sdy-opt %s --sdy-hoist-reshards | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(sdy-hoist-reshards{max-bytes=255}))" | FileCheck %s --check-prefix=SMALL

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: @carried
// CHECK: %[[G:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
// CHECK: %[[L:.*]]:3 = stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %arg0, %[[W:.*]] = %[[G]])
// CHECK: do {
// CHECK-NOT: sdy.reshard
// CHECK: stablehlo.dot_general %{{.*}}, %[[W]]
// CHECK: return %[[L]]#1, %arg1
// SMALL-LABEL: @carried
// SMALL: do {
// SMALL: sdy.reshard
func.func @carried(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                   %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %c = %a, %w = %b)
      : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32> attributes {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]>} cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = sdy.reshard %w <@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = stablehlo.dot_general %c, %1, contracting_dims = [1] x [0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2, %w : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %0#1, %0#2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// What changes in each trip is resharded in each trip.
// CHECK-LABEL: @changed
// CHECK: do {
// CHECK: sdy.reshard
func.func @changed(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %a) : tensor<i32>, tensor<8x8xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>]>} cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = sdy.reshard %c <@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = stablehlo.dot_general %c, %1, contracting_dims = [1] x [0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<8x8xf32>
  }
  return %0#1 : tensor<8x8xf32>
}

// What is resharded is computed anew in each trip: both move, unless the result is too large.
// CHECK-LABEL: @computed
// CHECK: %[[T:.*]] = stablehlo.transpose %arg1
// CHECK: %[[E:.*]] = stablehlo.exponential %[[T]]
// CHECK: %[[G:.*]] = sdy.reshard %[[E]] <@mesh, [{}, {}]>
// CHECK: stablehlo.while
// CHECK: do {
// CHECK-NOT: stablehlo.transpose
// CHECK-NOT: sdy.reshard
// CHECK: stablehlo.dot_general %{{.*}}, %[[G]]
// CHECK: return
// SMALL-LABEL: @computed
// SMALL: do {
// SMALL: stablehlo.transpose
// SMALL: stablehlo.exponential
// SMALL: sdy.reshard
func.func @computed(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %c = %a, %w = %b)
      : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32> attributes {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]>} cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.transpose %w, dims = [1, 0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
        : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.exponential %1
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32>
    %3 = sdy.reshard %2 <@mesh, [{}, {}]> : tensor<8x8xf32>
    %4 = stablehlo.dot_general %c, %3, contracting_dims = [1] x [0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %4, %w : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %0#1 : tensor<8x8xf32>
}
