// RUN: sdy-opt %s -mpmd-inline-func-calls | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = mpmd.named_computation<"f"> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.named_computation<"f"> (%a) (%x: tensor<4xf32>) {
    %1 = func.call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-NOT: @outer
func.func private @outer(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @inner(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[V0]]
func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
