// RUN: sdy-opt %s -split-input-file -sdy-add-data-flow-edges -sdy-apply-sharding-constraints | FileCheck %s

// Chain behind an edge.
// CHECK:      sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
// CHECK-NEXT: %0 = stablehlo.optimization_barrier %arg0 : tensor<8x8xf32>
// CHECK-NEXT: %1 = sdy.data_flow_edge %0 : tensor<8x8xf32>
// CHECK-NEXT: %2 = sdy.sharding_constraint %1 <@m, [{"x"}, {}]> : tensor<8x8xf32>
// CHECK-NEXT: %3 = stablehlo.abs %2 : tensor<8x8xf32>
// CHECK-NEXT: %4 = stablehlo.add %2, %arg1 : tensor<8x8xf32>
// CHECK-NEXT: %5 = sdy.sharding_constraint %2 <@m, [{}, {"y"}]> : tensor<8x8xf32>
// CHECK-NEXT: %6 = stablehlo.multiply %5, %5 : tensor<8x8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %7 = "stablehlo.case"(%c) ({
// CHECK-NEXT: stablehlo.return %2 : tensor<8x8xf32>
// CHECK-NEXT: }) : (tensor<i32>) -> tensor<8x8xf32>
// CHECK-NEXT: %8 = sdy.data_flow_edge %7 : tensor<8x8xf32>
// CHECK-NEXT: return %6, %2, %8 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
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
// CHECK-NEXT: %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
// CHECK-NEXT: %1 = sdy.data_flow_edge %0 sharding=<@m, [{?}], unreduced={"y"}> : tensor<8xf32>
// CHECK-NEXT: %2 = sdy.sharding_constraint %1 <@m, [{"x"}], unreduced={"y"}> : tensor<8xf32>
// CHECK-NEXT: %3 = stablehlo.abs %2 : tensor<8xf32>
// CHECK-NEXT: %4 = sdy.manual_computation(%2) in_shardings=[<@m, [{"x"}], unreduced={"y"}>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %6 = sdy.data_flow_edge %arg1 sharding=<@m, [{}], unreduced={"y"}> : tensor<4xf32>
// CHECK-NEXT: sdy.return %6 : tensor<4xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = sdy.data_flow_edge %4 sharding=<@m, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: return %5, %2 : tensor<8xf32>, tensor<8xf32>
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
// CHECK-NEXT: %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8xf32>, tensor<i32>
// CHECK-NEXT: cond {
// CHECK-NEXT: stablehlo.return %arg2 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: %3 = sdy.sharding_constraint %iterArg <@m, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %3, %iterArg_0 : tensor<8xf32>, tensor<i32>
// CHECK-NEXT: }
// CHECK-NEXT: %1 = sdy.data_flow_edge %0#0 : tensor<8xf32>
// CHECK-NEXT: %2 = sdy.data_flow_edge %0#1 : tensor<i32>
// CHECK-NEXT: return %1 : tensor<8xf32>
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
