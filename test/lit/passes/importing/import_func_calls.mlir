// RUN: sdy-opt %s -split-input-file -sdy-import-func-calls | FileCheck %s
// RUN: sdy-opt %s -split-input-file -sdy-import-func-calls=keep-no-inline=true | FileCheck %s --check-prefix=KEEP

// Imported.
// CHECK:      func.func private @z(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: return %arg0 : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.named_computation<"a">(%arg0) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION_1:.*]] = sdy.named_computation<"d">(%[[EDGE]]) (%arg2: tensor<8xf32>) {
// CHECK-NEXT: %[[EDGE_1:.*]] = sdy.data_flow_edge %arg2 : tensor<8xf32>
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %[[EDGE_1]] : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[ABS]] : tensor<8xf32>
// CHECK-NEXT: } {foo = "x"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[EDGE_2:.*]] = sdy.data_flow_edge %[[COMPUTATION_1]] : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[EDGE_2]] : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[EDGE_3:.*]] = sdy.data_flow_edge %[[COMPUTATION]] : tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION_2:.*]] = sdy.named_computation<"b">(%[[EDGE_3]]) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %[[EDGE_4:.*]] = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION_3:.*]] = sdy.named_computation<"d">(%[[EDGE_4]]) (%arg2: tensor<8xf32>) {
// CHECK-NEXT: %[[EDGE_5:.*]] = sdy.data_flow_edge %arg2 : tensor<8xf32>
// CHECK-NEXT: %[[ABS_1:.*]] = stablehlo.abs %[[EDGE_5]] : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[ABS_1]] : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[EDGE_6:.*]] = sdy.data_flow_edge %[[COMPUTATION_3]] : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[EDGE_6]] : tensor<8xf32>
// CHECK-NEXT: } {execution_thread = "thread"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[EDGE_7:.*]] = sdy.data_flow_edge %[[COMPUTATION_2]] : tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION_4:.*]] = sdy.named_computation<"a">(%[[EDGE_7]]) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %[[EDGE_8:.*]] = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION_5:.*]] = sdy.named_computation<"d">(%[[EDGE_8]]) (%arg2: tensor<8xf32>) {
// CHECK-NEXT: %[[EDGE_9:.*]] = sdy.data_flow_edge %arg2 : tensor<8xf32>
// CHECK-NEXT: %[[ABS_2:.*]] = stablehlo.abs %[[EDGE_9]] : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[ABS_2]] : tensor<8xf32>
// CHECK-NEXT: } {foo = "x"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[EDGE_10:.*]] = sdy.data_flow_edge %[[COMPUTATION_5]] : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[EDGE_10]] : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[EDGE_11:.*]] = sdy.data_flow_edge %[[COMPUTATION_4]] : tensor<8xf32>
// CHECK-NEXT: return %[[EDGE_11]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @y(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: return %arg0 : tensor<8xf32>
// CHECK-NEXT: }
func.func private @z(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @a(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @b(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @a(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @a(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @c(%a) {foo = "x"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @b(%a: tensor<8xf32>) -> tensor<8xf32> attributes {execution_thread = "thread"} {
  %0 = call @c(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @c(%a: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "d"} {
  %0 = stablehlo.abs %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @y(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

// Attributes of an imported call.
// CHECK:      sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: !stablehlo.token) -> tensor<8xf32> {
// CHECK-NEXT: %[[COMPUTATION:.*]]:2 = sdy.named_computation<"original">(%arg0, %arg1) in_shardings=[<@m, [{"y"}]>, <@m, []>] out_shardings=[<@m, [{"x"}]>, <@m, []>] (%arg2: tensor<8xf32>, %arg3: !stablehlo.token) {
// CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %arg2 sharding=<@m, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[EDGE]], %arg3 : tensor<8xf32>, !stablehlo.token
// CHECK-NEXT: } {execution_thread = "thread", foo = "x"} : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
// CHECK-NEXT: %[[EDGE_1:.*]] = sdy.data_flow_edge %[[COMPUTATION]]#0 sharding=<@m, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: return %[[EDGE_1]] : tensor<8xf32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xf32>, %t: !stablehlo.token) -> tensor<8xf32> {
  %0:2 = call @f(%a, %t)
      {foo = "x", sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>, <@m, []>]>}
      : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
  return %0#0 : tensor<8xf32>
}
func.func @f(%p: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}, %t: !stablehlo.token)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}, !stablehlo.token)
    attributes {execution_thread = "thread", sdy.original_func_name = "original"} {
  return %p, %t : tensor<8xf32>, !stablehlo.token
}

// -----

// Functions that must not be inlined, and named computations of the input.
// CHECK-LABEL: func.func @no_inline
// CHECK-NOT:   no_inline
// KEEP-LABEL:  func.func @no_inline
// KEEP:        sdy.named_computation<"f">
// KEEP:        } {sdy.func_no_inline} : (tensor<8xf32>) -> tensor<8xf32>
// KEEP:        sdy.named_computation<"g">
// KEEP:        } {sdy.func_no_inline} : (tensor<8xf32>) -> tensor<8xf32>
func.func @no_inline(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.named_computation<"g">(%0) (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> attributes {no_inline} {
  return %a : tensor<8xf32>
}
