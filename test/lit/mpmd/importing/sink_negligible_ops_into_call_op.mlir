// RUN: sdy-opt %s -mpmd-sink-negligible-ops-into-call-op | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[CST:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK-NEXT: %[[CST_0:.*]] = stablehlo.constant dense<2.000000e+00>
// CHECK-NEXT: %[[V0:.*]] = mpmd.call @g(%arg0, %[[CST]])
// CHECK-NEXT: %[[V1:.*]] = mpmd.call @g(%[[V0]], %[[CST_0]])
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %d = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = mpmd.call @g(%a, %c, %c) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = mpmd.call @g(%0, %c, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func private @g(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[CST:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.add %arg0, %[[CST]]
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %[[V0]], %arg1
// CHECK-NEXT: return %[[V1]]
func.func private @g(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.add %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}
