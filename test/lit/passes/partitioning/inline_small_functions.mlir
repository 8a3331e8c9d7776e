// RUN: sdy-opt %s -sdy-inline-small-functions -symbol-dce | FileCheck %s
// RUN: sdy-opt %s "-sdy-inline-small-functions=max-operations=1" -symbol-dce | FileCheck %s --check-prefix=SMALLER

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[NEGATE]], %[[NEGATE]]
// CHECK-NEXT: %[[NEGATE_1:.*]] = stablehlo.negate %[[ADD]]
// CHECK-NEXT: %[[ADD_1:.*]] = stablehlo.add %[[NEGATE_1]], %[[NEGATE_1]]
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %[[ADD_1]]
// CHECK-NEXT: %[[CALL:.*]] = call @kept(%[[ABS]])
// CHECK-NEXT: return %[[CALL]]
// SMALLER-LABEL: func.func @main
// SMALLER-NEXT: call @twice
// SMALLER-NEXT: call @twice
// SMALLER-NEXT: stablehlo.abs
func.func @main(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  %0 = call @twice(%arg0) : (tensor<7xf32>) -> tensor<7xf32>
  %1 = call @twice(%0) : (tensor<7xf32>) -> tensor<7xf32>
  %2 = call @once(%1) : (tensor<7xf32>) -> tensor<7xf32>
  %3 = call @kept(%2) : (tensor<7xf32>) -> tensor<7xf32>
  return %3 : tensor<7xf32>
}

// CHECK-NOT: @twice
// SMALLER: func.func private @twice
// SMALLER-NEXT: stablehlo.negate
func.func private @twice(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  %0 = call @once_more(%arg0) : (tensor<7xf32>) -> tensor<7xf32>
  %1 = stablehlo.add %0, %0 : tensor<7xf32>
  return %1 : tensor<7xf32>
}

// CHECK-NOT: @once
func.func private @once_more(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  %0 = stablehlo.negate %arg0 : tensor<7xf32>
  return %0 : tensor<7xf32>
}

func.func private @once(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  %0 = stablehlo.abs %arg0 : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// CHECK: func.func private @kept
func.func private @kept(%arg0: tensor<7xf32>) -> tensor<7xf32> attributes {no_inline} {
  return %arg0 : tensor<7xf32>
}
