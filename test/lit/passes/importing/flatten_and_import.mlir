// RUN: sdy-opt %s -split-input-file -sdy-flatten-call-graph -symbol-dce -sdy-import-func-calls -symbol-dce | FileCheck %s

// Flattened and imported.
// CHECK:      func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %0 = sdy.named_computation<"a">(%arg0) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %6 = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.named_computation<"d">(%6) (%arg2: tensor<8xf32>) {
// CHECK-NEXT: %9 = sdy.data_flow_edge %arg2 : tensor<8xf32>
// CHECK-NEXT: %10 = stablehlo.abs %9 : tensor<8xf32>
// CHECK-NEXT: sdy.return %10 : tensor<8xf32>
// CHECK-NEXT: } {foo = "x"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %8 = sdy.data_flow_edge %7 : tensor<8xf32>
// CHECK-NEXT: sdy.return %8 : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.data_flow_edge %0 : tensor<8xf32>
// CHECK-NEXT: %2 = sdy.named_computation<"b">(%1) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %6 = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.named_computation<"d">(%6) (%arg2: tensor<8xf32>) {
// CHECK-NEXT: %9 = sdy.data_flow_edge %arg2 : tensor<8xf32>
// CHECK-NEXT: %10 = stablehlo.abs %9 : tensor<8xf32>
// CHECK-NEXT: sdy.return %10 : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %8 = sdy.data_flow_edge %7 : tensor<8xf32>
// CHECK-NEXT: sdy.return %8 : tensor<8xf32>
// CHECK-NEXT: } {execution_thread = "thread"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %3 = sdy.data_flow_edge %2 : tensor<8xf32>
// CHECK-NEXT: %4 = sdy.named_computation<"a">(%3) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %6 = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.named_computation<"d">(%6) (%arg2: tensor<8xf32>) {
// CHECK-NEXT: %9 = sdy.data_flow_edge %arg2 : tensor<8xf32>
// CHECK-NEXT: %10 = stablehlo.abs %9 : tensor<8xf32>
// CHECK-NEXT: sdy.return %10 : tensor<8xf32>
// CHECK-NEXT: } {foo = "x"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %8 = sdy.data_flow_edge %7 : tensor<8xf32>
// CHECK-NEXT: sdy.return %8 : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = sdy.data_flow_edge %4 : tensor<8xf32>
// CHECK-NEXT: return %5 : tensor<8xf32>
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
