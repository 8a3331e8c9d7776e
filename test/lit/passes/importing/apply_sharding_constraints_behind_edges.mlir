// RUN: sdy-opt %s -split-input-file -sdy-add-data-flow-edges -sdy-apply-sharding-constraints | FileCheck %s

// Chain behind an edge.
// CHECK:      sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
// CHECK-NEXT: %[[OPTIMIZATION_BARRIER:.*]] = stablehlo.optimization_barrier %arg0 : tensor<8x8xf32>
// CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %[[OPTIMIZATION_BARRIER]] : tensor<8x8xf32>
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %[[EDGE]] <@m, [{"x"}, {}]> : tensor<8x8xf32>
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %[[CONSTRAINT]] : tensor<8x8xf32>
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[CONSTRAINT]], %arg1 : tensor<8x8xf32>
// CHECK-NEXT: %[[CONSTRAINT_1:.*]] = sdy.sharding_constraint %[[CONSTRAINT]] <@m, [{}, {"y"}]> : tensor<8x8xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = stablehlo.multiply %[[CONSTRAINT_1]], %[[CONSTRAINT_1]] : tensor<8x8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CASE:.*]] = "stablehlo.case"(%c) ({
// CHECK-NEXT: stablehlo.return %[[CONSTRAINT]] : tensor<8x8xf32>
// CHECK-NEXT: }) : (tensor<i32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[EDGE_1:.*]] = sdy.data_flow_edge %[[CASE]] : tensor<8x8xf32>
// CHECK-NEXT: return %[[MULTIPLY]], %[[CONSTRAINT]], %[[EDGE_1]] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.optimization_barrier %a : tensor<8x8xf32>
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

// Manual computation behind an edge.
// CHECK:      sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT: %[[OPTIMIZATION_BARRIER:.*]] = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
// CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %[[OPTIMIZATION_BARRIER]] sharding=<@m, [{?}], unreduced={"y"}> : tensor<8xf32>
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %[[EDGE]] <@m, [{"x"}], unreduced={"y"}> : tensor<8xf32>
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %[[CONSTRAINT]] : tensor<8xf32>
// CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%[[CONSTRAINT]]) in_shardings=[<@m, [{"x"}], unreduced={"y"}>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[EDGE_1:.*]] = sdy.data_flow_edge %arg1 sharding=<@m, [{}], unreduced={"y"}> : tensor<4xf32>
// CHECK-NEXT: sdy.return %[[EDGE_1]] : tensor<4xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[EDGE_2:.*]] = sdy.data_flow_edge %[[MANUAL]] sharding=<@m, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: return %[[EDGE_2]], %[[CONSTRAINT]] : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.optimization_barrier %a : tensor<8xf32>
  %d = stablehlo.abs %c : tensor<8xf32>
  %0 = sdy.manual_computation(%c) in_shardings=[<@m, [{"x"}], unreduced={"y"}>]
      out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%p: tensor<4xf32>) {
    sdy.return %p : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

// Constrained argument of a loop with edges.
// CHECK:      sdy.mesh @m = <["x"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<i32>, %arg2: tensor<i1>) -> tensor<8xf32> {
// CHECK-NEXT: %[[WHILE:.*]]:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8xf32>, tensor<i32>
// CHECK-NEXT: cond {
// CHECK-NEXT: stablehlo.return %arg2 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %iterArg <@m, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %[[CONSTRAINT]], %iterArg_0 : tensor<8xf32>, tensor<i32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %[[WHILE]]#0 : tensor<8xf32>
// CHECK-NEXT: %[[EDGE_1:.*]] = sdy.data_flow_edge %[[WHILE]]#1 : tensor<i32>
// CHECK-NEXT: return %[[EDGE]] : tensor<8xf32>
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
