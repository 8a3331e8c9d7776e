// RUN: sdy-opt %s -split-input-file -sdy-apply-sharding-constraints | FileCheck %s

// Chain behind an operation.
// CHECK:      sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<8x8xf32>
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %[[TANH]] : tensor<8x8xf32>
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %[[TANH]] <@m, [{"x"}, {}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>} : tensor<8x8xf32>
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[TANH]], %arg1 : tensor<8x8xf32>
// CHECK-NEXT: %[[CONSTRAINT_1:.*]] = sdy.sharding_constraint %[[CONSTRAINT]] <@m, [{}, {"y"}]> : tensor<8x8xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = stablehlo.multiply %[[CONSTRAINT_1]], %[[CONSTRAINT_1]] : tensor<8x8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CASE:.*]] = "stablehlo.case"(%c) ({
// CHECK-NEXT: stablehlo.return %[[TANH]] : tensor<8x8xf32>
// CHECK-NEXT: }) : (tensor<i32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %[[MULTIPLY]], %[[TANH]], %[[CASE]] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %i = stablehlo.abs %0 : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@m, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.add %0, %b : tensor<8x8xf32>
  %3 = sdy.sharding_constraint %1 <@m, [{}, {"y"}]> : tensor<8x8xf32>
  %4 = stablehlo.multiply %0, %0 : tensor<8x8xf32>
  %p = stablehlo.constant dense<0> : tensor<i32>
  %5 = "stablehlo.case"(%p) ({
    stablehlo.return %0 : tensor<8x8xf32>
  }) : (tensor<i32>) -> tensor<8x8xf32>
  return %4, %0, %5 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Chain of open constraints.
// CHECK:      sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %arg0 : tensor<8x8xf32>
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %[[TANH]] : tensor<8x8xf32>
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %[[TANH]] <@m, [{"x", ?}, {}]> : tensor<8x8xf32>
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[TANH]], %arg1 : tensor<8x8xf32>
// CHECK-NEXT: %[[CONSTRAINT_1:.*]] = sdy.sharding_constraint %[[CONSTRAINT]] <@m, [{}, {"y"}]> : tensor<8x8xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = stablehlo.multiply %[[CONSTRAINT_1]], %[[CONSTRAINT_1]] : tensor<8x8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CASE:.*]] = "stablehlo.case"(%c) ({
// CHECK-NEXT: stablehlo.return %[[TANH]] : tensor<8x8xf32>
// CHECK-NEXT: }) : (tensor<i32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %[[MULTIPLY]], %[[TANH]], %[[CASE]] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %i = stablehlo.abs %0 : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@m, [{"x", ?}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.add %0, %b : tensor<8x8xf32>
  %3 = sdy.sharding_constraint %1 <@m, [{}, {"y"}]> : tensor<8x8xf32>
  %4 = stablehlo.multiply %0, %0 : tensor<8x8xf32>
  %p = stablehlo.constant dense<0> : tensor<i32>
  %5 = "stablehlo.case"(%p) ({
    stablehlo.return %0 : tensor<8x8xf32>
  }) : (tensor<i32>) -> tensor<8x8xf32>
  return %4, %0, %5 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Inputs of a manual computation.
// CHECK:      sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, %arg2: !stablehlo.token {sdy.sharding = #sdy.sharding<@m, []>}) -> tensor<8xf32> {
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %arg0 : tensor<8xf32>
// CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%arg0, %arg1, %arg1, %[[ABS]], %[[ABS]], %arg2) in_shardings=[<@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x", "y"}]>, <@m, []>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%arg3: tensor<4xf32>, %arg4: tensor<4xf32>, %arg5: tensor<4xf32>, %arg6: tensor<4xf32>, %arg7: tensor<4xf32>, %arg8: !stablehlo.token) {
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg4 <@m, [{"y"}]> : tensor<4xf32>
// CHECK-NEXT: sdy.return %[[CONSTRAINT]] : tensor<4xf32>
// CHECK-NEXT: } : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, !stablehlo.token) -> tensor<8xf32>
// CHECK-NEXT: return %[[MANUAL]] : tensor<8xf32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %t: !stablehlo.token) -> tensor<8xf32> {
  %c = stablehlo.abs %a : tensor<8xf32>
  %0 = sdy.manual_computation(%a, %b, %b, %c, %c, %t)
      in_shardings=[<@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x"}]>, <@m, [{"x", "y"}]>, <@m, []>]
      out_shardings=[<@m, [{"x"}]>] manual_axes={"x"}
      (%p: tensor<4xf32>, %q: tensor<4xf32>, %r: tensor<4xf32>, %s: tensor<4xf32>, %u: tensor<4xf32>, %v: !stablehlo.token) {
    %1 = sdy.sharding_constraint %q <@m, [{"y"}]> : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, !stablehlo.token) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Constrained argument of a loop.
// CHECK:      sdy.mesh @m = <["x"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<i32>, %arg2: tensor<i1>) -> tensor<8xf32> {
// CHECK-NEXT: %[[WHILE:.*]]:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>, <@m, []>]>}
// CHECK-NEXT: cond {
// CHECK-NEXT: stablehlo.return %arg2 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %iterArg <@m, [{"x"}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %[[CONSTRAINT]], %iterArg_0 : tensor<8xf32>, tensor<i32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[WHILE]]#0 : tensor<8xf32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8xf32>, %i: tensor<i32>, %p: tensor<i1>) -> tensor<8xf32> {
  %2:2 = stablehlo.while(%x = %a, %n = %i) : tensor<8xf32>, tensor<i32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %5 = sdy.sharding_constraint %x <@m, [{"x"}]> : tensor<8xf32>
    stablehlo.return %5, %n : tensor<8xf32>, tensor<i32>
  }
  return %2#0 : tensor<8xf32>
}

// -----

// Constraints in a reducer, alike and apart.
// CHECK:      sdy.mesh @m = <["x"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, %arg1: tensor<8xf32>, %arg2: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %[[REDUCE:.*]] = stablehlo.reduce(%arg0 init: %arg2) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: reducer(%arg3: tensor<f32>, %arg4: tensor<f32>)  {
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg3 <@m, []> : tensor<f32>
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[CONSTRAINT]], %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %[[ADD]] : tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[CONSTRAINT_1:.*]] = sdy.sharding_constraint %arg0 <@m, [{"x"}]> {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
// CHECK-NEXT: %[[CONSTRAINT_2:.*]] = sdy.sharding_constraint %arg0 <@m, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: %[[CONSTRAINT_3:.*]] = sdy.sharding_constraint %arg1 <@m, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: %[[CONSTRAINT_4:.*]] = sdy.sharding_constraint %arg1 <@m, [{}]> : tensor<8xf32>
// CHECK-NEXT: return %[[REDUCE]] : tensor<f32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %i: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%a, %i) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = sdy.sharding_constraint %x <@m, []> : tensor<f32>
    %2 = stablehlo.add %1, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %3 = sdy.sharding_constraint %a <@m, [{"x"}]> : tensor<8xf32>
  %4 = sdy.sharding_constraint %a <@m, [{"x"}]> : tensor<8xf32>
  %5 = sdy.sharding_constraint %b <@m, [{"x"}]> : tensor<8xf32>
  %6 = sdy.sharding_constraint %b <@m, [{}]> : tensor<8xf32>
  return %0 : tensor<f32>
}
