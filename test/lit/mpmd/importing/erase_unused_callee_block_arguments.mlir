// RUN: sdy-opt %s -mpmd-erase-unused-callee-block-arguments | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.call @g(%arg0)
// CHECK-NEXT: return %arg1, %[[V0]]
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0:2 = mpmd.call @g(%a, %b, %b) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func private @g(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[V0]]
func.func private @g(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  return %b, %0 : tensor<4xf32>, tensor<4xf32>
}

// A callee without results vanishes with its calls; an unused call keeps its callee.
// CHECK-LABEL: func.func @nothing_left(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %{{.*}} = mpmd.call @unused(%arg0)
// CHECK-NEXT: return %arg0
func.func @nothing_left(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.call @empty(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = mpmd.call @unused(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-NOT: @empty
func.func private @empty(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  return %a : tensor<4xf32>
}

// CHECK: func.func private @unused(%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func private @unused(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  return %a : tensor<4xf32>
}
