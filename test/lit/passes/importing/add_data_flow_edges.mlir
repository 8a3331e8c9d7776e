// RUN: sdy-opt %s -split-input-file -sdy-add-data-flow-edges | FileCheck %s

// Edges of all kinds.
// CHECK:      sdy.mesh @m = <["a"=2, "b"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x8xf32>, %arg1: !stablehlo.token, %arg2: tensor<i32>, %arg3: tensor<i1>) {
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0) in_shardings=[<@m, [{"a", "b", ?}, {}]>] out_shardings=[<@m, [{"a", ?}, {}]>] manual_axes={"a"} (%arg4: tensor<4x8xf32>) {
// CHECK-NEXT: %11 = sdy.data_flow_edge %arg4 sharding=<@m, [{"b", ?}, {}]> : tensor<4x8xf32>
// CHECK-NEXT: sdy.return %11 : tensor<4x8xf32>
// CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %1 = sdy.data_flow_edge %0 sharding=<@m, [{"a", ?}, {}]> : tensor<8x8xf32>
// CHECK-NEXT: %2:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"b"}]>, <@m, []>]>} %arg0, %arg1 : tensor<8x8xf32>, !stablehlo.token
// CHECK-NEXT: %3 = sdy.data_flow_edge %2#0 sharding=<@m, [{}, {"b"}]> : tensor<8x8xf32>
// CHECK-NEXT: %4:2 = stablehlo.while(%iterArg = %3, %iterArg_0 = %arg2) : tensor<8x8xf32>, tensor<i32>
// CHECK-NEXT: cond {
// CHECK-NEXT: stablehlo.return %arg3 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: %11 = stablehlo.optimization_barrier %iterArg : tensor<8x8xf32>
// CHECK-NEXT: %12 = sdy.data_flow_edge %11 : tensor<8x8xf32>
// CHECK-NEXT: stablehlo.return %12, %iterArg_0 : tensor<8x8xf32>, tensor<i32>
// CHECK-NEXT: }
// CHECK-NEXT: %5 = sdy.data_flow_edge %4#0 : tensor<8x8xf32>
// CHECK-NEXT: %6 = sdy.data_flow_edge %4#1 : tensor<i32>
// CHECK-NEXT: %7 = sdy.named_computation<"f">(%5) in_shardings=[<@m, [{"b"}, {?}]>] (%arg4: tensor<8x8xf32>) {
// CHECK-NEXT: %11 = sdy.data_flow_edge %arg4 sharding=<@m, [{"b"}, {?}]> : tensor<8x8xf32>
// CHECK-NEXT: sdy.return %11 : tensor<8x8xf32>
// CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %8 = sdy.data_flow_edge %7 : tensor<8x8xf32>
// CHECK-NEXT: %9 = "stablehlo.if"(%arg3) ({
// CHECK-NEXT: stablehlo.return %8 : tensor<8x8xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: stablehlo.return %1 : tensor<8x8xf32>
// CHECK-NEXT: }) : (tensor<i1>) -> tensor<8x8xf32>
// CHECK-NEXT: %10 = sdy.data_flow_edge %9 : tensor<8x8xf32>
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
