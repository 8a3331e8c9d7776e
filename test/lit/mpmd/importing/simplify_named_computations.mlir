// RUN: sdy-opt %s -mpmd-simplify-named-computations | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @duplicates(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.named_computation<"f"> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %arg1, %arg1
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]], %[[V0]]
func.func @duplicates(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0:2 = mpmd.named_computation<"f"> (%a, %a) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4xf32>
    mpmd.return %1, %1 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @forwarded(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.named_computation<"f"> (%arg0) (%arg2: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg2
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]], %arg1
func.func @forwarded(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0:2 = mpmd.named_computation<"f"> (%a, %b) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %1 = stablehlo.optimization_barrier %y : tensor<4xf32>
    %2 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %2, %1 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @unused(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = mpmd.named_computation<"g"> (%arg0) (%arg2: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg2
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]
func.func @unused(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.named_computation<"f"> (%b) (%x: tensor<4xf32>) {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %2:2 = mpmd.named_computation<"g"> (%a, %0) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %3 = stablehlo.tanh %x : tensor<4xf32>
    %4 = stablehlo.tanh %y : tensor<4xf32>
    mpmd.return %3, %4 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %2#0 : tensor<4xf32>
}
