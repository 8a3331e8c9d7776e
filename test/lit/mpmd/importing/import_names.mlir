// RUN: sdy-opt %s -mpmd-import-names -split-input-file -verify-diagnostics | FileCheck %s

#topology = #mpmd.topology<<"m0" : <["x"=2]>>>

// CHECK-LABEL: @main
// CHECK-NEXT:    %[[F:.*]] = mpmd.named_computation<"f"> (%arg0) (%{{.*}}: tensor<4xf32>) {
// CHECK-NEXT:      stablehlo.tanh
// CHECK-NEXT:      mpmd.return
// CHECK-NEXT:    } : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[T:.*]] = mpmd.named_tensor %[[F]] name="t" : tensor<4xf32>
// CHECK-NEXT:    %[[B:.*]] = mpmd.broadcast %[[T]] : tensor<4xf32>
// A function with names inside is inlined, and its count is added.
// CHECK-NEXT:    %[[G:.*]] = mpmd.named_computation<"f"(3)> (%[[B]])
// CHECK:         %[[C:.*]] = mpmd.call @step_0(%[[G]]) {call_counter = 0 : ui32} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[D:.*]] = mpmd.call @step_0(%[[C]]) {call_counter = 1 : ui32} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    return %[[D]]
// CHECK-NOT:   call @f
// CHECK:       func.func private @step_0
// CHECK-NEXT:    mpmd.named_computation<"f"> (%arg0)
func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = func.call @f(%arg0) {mpmd.name = "f"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @identity(%0) {mpmd.tensor = "t"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @identity(%1) {mpmd.broadcast = ""} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = func.call @outer(%2) {mpmd.transpose_count = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = func.call @"mpmd.call/0/"(%3) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = func.call @"mpmd.call/1/"(%4) : (tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}
func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @identity(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
func.func private @outer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @f(%arg0) {mpmd.name = "f", mpmd.transpose_count = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @"mpmd.call/0/"(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @step(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @"mpmd.call/1/"(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @step(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @step(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @f(%arg0) {mpmd.name = "f"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#topology = #mpmd.topology<<"m0" : <["x"=2]>>>

func.func public @main(%arg0: tensor<i32>, %arg1: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  // expected-note @below {{here}}
  %0:2 = stablehlo.while(%a = %arg0, %b = %arg1) : tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %a, %arg0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      // expected-error @below {{'f' must not be inside of a 'stablehlo.while': write a Python loop, or 'sdy.mpmd.microbatched'}}
      %1 = func.call @f(%b) {mpmd.name = "f"} : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %a, %1 : tensor<i32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}
func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
