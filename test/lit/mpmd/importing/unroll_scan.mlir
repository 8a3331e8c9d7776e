// RUN: sdy-opt %s -mpmd-unroll-scan -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @main
// CHECK:         stablehlo.constant dense<2>
// CHECK-NEXT:    %[[I1:.*]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT:    %[[F:.*]]:2 = call @scan(%[[I1]], %arg0, %arg1, %{{.*}}) {mpmd.call_counter = "0"}
// CHECK-NEXT:    %[[I3:.*]] = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT:    %[[G:.*]]:2 = call @scan(%[[I3]], %[[F]]#1, %arg1, %{{.*}}) {mpmd.call_counter = "1"}
// CHECK-NOT:     stablehlo.while
// CHECK:         return %[[G]]#1
// CHECK:       func.func private @scan(%arg0: tensor<i32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<i32>)
// CHECK:         %[[N:.*]] = call @f(%arg1)
// CHECK:         stablehlo.add %[[N]], %arg2
func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %step = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %b = %arg0) : tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @f(%b) {mpmd.name = "f"} : (tensor<4xf32>) -> tensor<4xf32>
      %2 = stablehlo.add %1, %arg1 : tensor<4xf32>
      %3 = stablehlo.add %i, %step : tensor<i32>
      stablehlo.return %3, %2 : tensor<i32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}
func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func public @main(%arg0: tensor<i32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{a loop with names needs a constant number of iterations: write a Python loop}}
  %0:2 = stablehlo.while(%a = %arg0, %b = %arg1) : tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %a, %arg0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @f(%b) {mpmd.name = "f"} : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %a, %1 : tensor<i32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}
func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
