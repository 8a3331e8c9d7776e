// RUN: sdy-opt %s --split-input-file -sdy-propagate-past-calls | FileCheck %s
// RUN: sdy-opt %s --split-input-file -sdy-inline-small-functions -symbol-dce -sdy-propagate-past-calls | FileCheck %s --check-prefix=INLINED

sdy.mesh @mesh = <["x"=4, "y"=2]>

// What follows the gather is sharded, too, and only the result is gathered.
// CHECK-LABEL: @carried_on
// CHECK-NOT: sdy.reshard
// CHECK: %[[P:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}}<@mesh, [{"x"}, {}]>
// CHECK: %[[M:.*]] = stablehlo.multiply %arg0, %[[P]] {{.*}}<@mesh, [{"x"}, {}]>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[M]] init{{.*}}<@mesh, [{"x"}]>
// CHECK: return %[[S]]
func.func @carried_on(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                      %b: tensor<64x64xf32>)
    -> tensor<64xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> {sdy.at_call} : tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = stablehlo.multiply %0, %1 : tensor<64x64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %2 : tensor<64xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// A constraint stays.
// CHECK-LABEL: @kept
// CHECK: %[[W:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
// CHECK: stablehlo.tanh %[[W]] : tensor<8x8xf32>
func.func @kept(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// A gather stays where it costs no more than one of the result.
// CHECK-LABEL: @no_cheaper
// CHECK: sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
func.func @no_cheaper(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> {sdy.at_call} : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// A reshard at the place of its operand was made for the argument. What a loop carries is sharded, too.
// INLINED-LABEL: func.func @main
// INLINED: %[[C:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
// INLINED: %[[T:.*]] = stablehlo.tanh %arg0
// INLINED-NOT: sdy.reshard
// INLINED: stablehlo.while({{.*}} = %[[T]]{{.*}} = %[[C]]{{.*}}<@mesh, [{"x"}, {}]>
// INLINED: do {
// INLINED: stablehlo.dot_general {{.*}}<@mesh, [{"x"}, {}]>
// INLINED: stablehlo.multiply {{.*}}<@mesh, [{"x"}, {}]>
// INLINED-NOT: sdy.at_call
// INLINED: return
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<f32> {
  %constrained = sdy.reshard %b <@mesh, [{}, {}]> : tensor<64x64xf32> loc("constraint")
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : tensor<64x64xf32> loc("tanh")
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<64x64xf32> loc("tanh")
  %2 = func.call @layers(%1, %constrained) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

func.func private @layers(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %c = %x, %v = %w)
      : tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32> cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %c, %v, contracting_dims = [1] x [0]
        : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.multiply %c, %1 : tensor<64x64xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2, %v : tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%0#1 init: %f) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}
