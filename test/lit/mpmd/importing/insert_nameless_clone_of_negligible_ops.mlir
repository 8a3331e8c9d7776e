// RUN: sdy-opt %s -mpmd-insert-nameless-clone-of-negligible-ops | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[V0:.*]]:2 = mpmd.named_computation<"f"> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[CST_0:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.add %arg1, %[[CST_0]]
// CHECK-NEXT: mpmd.return %[[V2]], %[[CST_0]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[CST:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %[[V0]]#0, %[[CST]]
// CHECK-NEXT: return %[[V1]], %[[V0]]#1
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0:2 = mpmd.named_computation<"f"> (%a) (%x: tensor<4xf32>) {
    %c = stablehlo.constant dense<1.0> : tensor<4xf32>
    %1 = stablehlo.add %x, %c : tensor<4xf32>
    mpmd.return %1, %c : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = stablehlo.add %0#0, %0#1 : tensor<4xf32>
  return %2, %0#1 : tensor<4xf32>, tensor<4xf32>
}
