// The counters of the second loop continue those of the first one.

// RUN: sdy-opt %s -mpmd-unroll-for-loops -mpmd-from-unroll-to-call-counter | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @twice(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant {unroll_counter = 0
// CHECK-NEXT: %[[V0:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = [] {unroll_counter = 0
// CHECK-NEXT: %[[V1:.*]] = mpmd.call @g(%arg0) {call_counter = 0
// CHECK-NEXT: %[[C_0:.*]] = stablehlo.constant {unroll_counter = 1
// CHECK-NEXT: %[[V2:.*]] = stablehlo.broadcast_in_dim %[[C_0]], dims = [] {unroll_counter = 1
// CHECK-NEXT: %[[V3:.*]] = mpmd.call @g(%arg1) {call_counter = 1
// CHECK-NEXT: %[[C_1:.*]] = stablehlo.constant {unroll_counter = 2
// CHECK-NEXT: %[[V4:.*]] = mpmd.call @g(%[[V3]]) {call_counter = 2
// CHECK-NEXT: return %[[V4]]
func.func @twice(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0:2 = mpmd.for (%a, %b) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%x: tensor<4xf32>, %y: tensor<4xf32>, %index: tensor<ui32>) {
    %1 = stablehlo.broadcast_in_dim %index, dims = [] : (tensor<ui32>) -> tensor<4xui32>
    %2 = mpmd.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
    mpmd.return %y, %2 : tensor<4xf32>, tensor<4xf32>
  } : tensor<4xf32>, tensor<4xf32>
  %3 = mpmd.for (%0#1) {iterations = 1 : ui32, unroll_factor = 1 : ui32} (%x: tensor<4xf32>, %index: tensor<ui32>) {
    %4 = mpmd.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
    mpmd.return %4 : tensor<4xf32>
  } : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @g(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %arg0
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  return %a : tensor<4xf32>
}
