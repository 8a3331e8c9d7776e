// RUN: sdy-opt %s -split-input-file -sdy-add-data-flow-edges | FileCheck %s

// Edges of all kinds.
// CHECK:      sdy.mesh @m = <["a"=2, "b"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x8xf32>, %arg1: !stablehlo.token, %arg2: tensor<i32>, %arg3: tensor<i1>) {
// CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@m, [{"a", "b", ?}, {}]>] out_shardings=[<@m, [{"a", ?}, {}]>] manual_axes={"a"} (%arg4: tensor<4x8xf32>) {
// CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %arg4 sharding=<@m, [{"b", ?}, {}]> : tensor<4x8xf32>
// CHECK-NEXT: sdy.return %[[EDGE]] : tensor<4x8xf32>
// CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[EDGE_1:.*]] = sdy.data_flow_edge %[[MANUAL]] sharding=<@m, [{"a", ?}, {}]> : tensor<8x8xf32>
// CHECK-NEXT: %[[OPTIMIZATION_BARRIER:.*]]:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"b"}]>, <@m, []>]>} %arg0, %arg1 : tensor<8x8xf32>, !stablehlo.token
// CHECK-NEXT: %[[EDGE_2:.*]] = sdy.data_flow_edge %[[OPTIMIZATION_BARRIER]]#0 sharding=<@m, [{}, {"b"}]> : tensor<8x8xf32>
// CHECK-NEXT: %[[WHILE:.*]]:2 = stablehlo.while(%iterArg = %[[EDGE_2]], %iterArg_0 = %arg2) : tensor<8x8xf32>, tensor<i32>
// CHECK-NEXT: cond {
// CHECK-NEXT: stablehlo.return %arg3 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: %[[OPTIMIZATION_BARRIER_1:.*]] = stablehlo.optimization_barrier %iterArg : tensor<8x8xf32>
// CHECK-NEXT: %[[EDGE_3:.*]] = sdy.data_flow_edge %[[OPTIMIZATION_BARRIER_1]] : tensor<8x8xf32>
// CHECK-NEXT: stablehlo.return %[[EDGE_3]], %iterArg_0 : tensor<8x8xf32>, tensor<i32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[EDGE_4:.*]] = sdy.data_flow_edge %[[WHILE]]#0 : tensor<8x8xf32>
// CHECK-NEXT: %[[EDGE_5:.*]] = sdy.data_flow_edge %[[WHILE]]#1 : tensor<i32>
// CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.named_computation<"f">(%[[EDGE_4]]) in_shardings=[<@m, [{"b"}, {?}]>] (%arg4: tensor<8x8xf32>) {
// CHECK-NEXT: %[[EDGE_6:.*]] = sdy.data_flow_edge %arg4 sharding=<@m, [{"b"}, {?}]> : tensor<8x8xf32>
// CHECK-NEXT: sdy.return %[[EDGE_6]] : tensor<8x8xf32>
// CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[EDGE_7:.*]] = sdy.data_flow_edge %[[COMPUTATION]] : tensor<8x8xf32>
// CHECK-NEXT: %[[IF:.*]] = "stablehlo.if"(%arg3) ({
// CHECK-NEXT: stablehlo.return %[[EDGE_7]] : tensor<8x8xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: stablehlo.return %[[EDGE_1]] : tensor<8x8xf32>
// CHECK-NEXT: }) : (tensor<i1>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[EDGE_8:.*]] = sdy.data_flow_edge %[[IF]] : tensor<8x8xf32>
// CHECK-NEXT: return
// CHECK-NEXT: }
sdy.mesh @m = <["a"=2, "b"=2]>
func.func @main(%a: tensor<8x8xf32>, %t: !stablehlo.token, %i: tensor<i32>, %p: tensor<i1>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"a", "b", ?}, {}]>]
      out_shardings=[<@m, [{"a", ?}, {}]>] manual_axes={"a"} (%x: tensor<4x8xf32>) {
    sdy.return %x : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1:2 = stablehlo.optimization_barrier
      {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"b"}]>, <@m, []>]>}
      %a, %t : tensor<8x8xf32>, !stablehlo.token
  %2:2 = stablehlo.while(%x = %1#0, %n = %i) : tensor<8x8xf32>, tensor<i32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %5 = stablehlo.optimization_barrier %x : tensor<8x8xf32>
    stablehlo.return %5, %n : tensor<8x8xf32>, tensor<i32>
  }
  %3 = sdy.named_computation<"f">(%2#0) in_shardings=[<@m, [{"b"}, {?}]>] (%x: tensor<8x8xf32>) {
    sdy.return %x : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "stablehlo.if"(%p) ({
    stablehlo.return %3 : tensor<8x8xf32>
  }, {
    stablehlo.return %0 : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  return
}
