// RUN: sdy-opt %s -split-input-file -sdy-pre-order-funcs | FileCheck %s

// Pre-order.
// CHECK:      func.func private @y(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: return %arg0 : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %[[CALL:.*]] = call @a(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CALL_1:.*]] = call @b(%[[CALL]]) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CALL_2:.*]] = call @a(%[[CALL_1]]) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[CALL_2]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @b(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {execution_thread = "thread"} {
// CHECK-NEXT: %[[CALL:.*]] = call @c(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[CALL]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @a(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %[[CALL:.*]] = call @c(%arg0) {foo = "x"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[CALL]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @c(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "d"} {
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %arg0 : tensor<8xf32>
// CHECK-NEXT: return %[[ABS]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @z(%arg0: tensor<8xf32>) -> tensor<8xf32> {
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
