// A function that calls itself is not constant, whatever else is in it. C++ Shardy copies it without
// end. Two orders of functions, as either may be looked at first.

// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter | FileCheck %s

// CHECK:      func.func @main
// CHECK-NEXT: %[[CALL:.*]] = call @f() : () -> tensor<8xf32>
// CHECK-NEXT: return %[[CALL]], %[[CALL]] : tensor<8xf32>, tensor<8xf32>
func.func @main() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @f() : () -> tensor<8xf32>
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}
// CHECK:      func.func private @f
// CHECK-NEXT: %[[CALL:.*]] = call @f() : () -> tensor<8xf32>
// CHECK-NEXT: return %[[CALL]] : tensor<8xf32>
func.func private @f() -> tensor<8xf32> {
  %0 = call @f() : () -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
