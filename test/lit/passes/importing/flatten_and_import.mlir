// RUN: sdy-opt %s -split-input-file -sdy-flatten-call-graph -symbol-dce -sdy-import-func-calls -symbol-dce | FileCheck %s

// Flattened and imported.
// CHECK:      func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
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
