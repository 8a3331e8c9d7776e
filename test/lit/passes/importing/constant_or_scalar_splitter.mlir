// RUN: sdy-opt %s -split-input-file -sdy-constant-or-scalar-splitter | FileCheck %s

// Constants.
// CHECK:      func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
// CHECK-NEXT: %[[CONSTANT:.*]] = sdy.constant dense<2.000000e+00> : tensor<8x4xf32>
// CHECK-NEXT: %[[CONSTANT_1:.*]] = sdy.constant dense<2.000000e+00> : tensor<8x4xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %[[CONSTANT]] : tensor<8x4xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot %arg0, %[[NEGATE]] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[DOT_1:.*]] = stablehlo.dot %arg0, %[[CONSTANT_1]] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: return %[[DOT]], %[[DOT_1]] : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4xf32>) -> (tensor<4x4xf32>,tensor<4x4xf32>) {
 %c = stablehlo.constant dense<2.0> : tensor<8x4xf32>
 %n = stablehlo.negate %c : tensor<8x4xf32>
 %d = stablehlo.dot %x, %n : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
 %e = stablehlo.dot %x, %c : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
 return %d, %e : tensor<4x4xf32>,tensor<4x4xf32>
}

// -----

// Constant functions.
// CHECK:      func.func @main() -> (tensor<8xi32>, tensor<8xi32>) {
// CHECK-NEXT: %[[CALL:.*]] = call @k_2() : () -> tensor<8xi32>
// CHECK-NEXT: %[[CALL_1:.*]] = call @k_4() : () -> tensor<8xi32>
// CHECK-NEXT: return %[[CALL]], %[[CALL_1]] : tensor<8xi32>, tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @k() -> tensor<8xi32> {
// CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK-NEXT: %[[CALL:.*]] = call @h_0(%[[IOTA]]) : (tensor<8xi32>) -> tensor<8xi32>
// CHECK-NEXT: return %[[CALL]] : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @h(%arg0: tensor<8xi32>) -> tensor<8xi32> {
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0 : tensor<8xi32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @h_0(%arg0: tensor<8xi32>) -> tensor<8xi32> attributes {sdy.original_func_name = "h"} {
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0 : tensor<8xi32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @h_0_1(%arg0: tensor<8xi32>) -> tensor<8xi32> attributes {sdy.original_func_name = "h"} {
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0 : tensor<8xi32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @k_2() -> tensor<8xi32> attributes {sdy.original_func_name = "k"} {
// CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK-NEXT: %[[CALL:.*]] = call @h_0_1(%[[IOTA]]) : (tensor<8xi32>) -> tensor<8xi32>
// CHECK-NEXT: return %[[CALL]] : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @h_0_3(%arg0: tensor<8xi32>) -> tensor<8xi32> attributes {sdy.original_func_name = "h"} {
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0 : tensor<8xi32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @k_4() -> tensor<8xi32> attributes {sdy.original_func_name = "k"} {
// CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK-NEXT: %[[CALL:.*]] = call @h_0_3(%[[IOTA]]) : (tensor<8xi32>) -> tensor<8xi32>
// CHECK-NEXT: return %[[CALL]] : tensor<8xi32>
// CHECK-NEXT: }
func.func @main() -> (tensor<8xi32>,tensor<8xi32>) {
  %0 = call @k() : () -> tensor<8xi32>
  return %0, %0 : tensor<8xi32>,tensor<8xi32>
}
func.func @k() -> tensor<8xi32> {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %0 = call @h(%i) : (tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func @h(%a: tensor<8xi32>) -> tensor<8xi32> {
  %0 = stablehlo.negate %a : tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

// Constants, groups and regions.
// CHECK:      func.func @main(%arg0: tensor<i32>, %arg1: tensor<f32>, %arg2: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>) {
// CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 0 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[IOTA]] group_id=2 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[IOTA]] group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[IOTA]] group_id=3 : tensor<8xf32>
// CHECK-NEXT: %[[IOTA_1:.*]] = stablehlo.iota dim = 0 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[IOTA_1]] group_id=2 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[IOTA_1]] group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[IOTA_1]] group_id=3 : tensor<8xf32>
// CHECK-NEXT: %[[IOTA_2:.*]] = stablehlo.iota dim = 0 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[IOTA_2]] group_id=2 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[IOTA_2]] group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[IOTA_2]] group_id=3 : tensor<8xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[CONSTANT]] group_id=3 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[CONSTANT]] group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[CONSTANT]] group_id=2 : tensor<8xf32>
// CHECK-NEXT: %[[CONSTANT_1:.*]] = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[CONSTANT_1]] group_id=3 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[CONSTANT_1]] group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[CONSTANT_1]] group_id=2 : tensor<8xf32>
// CHECK-NEXT: %[[CONSTANT_2:.*]] = sdy.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[BROADCAST:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[BROADCAST_1:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[BROADCAST_2:.*]] = stablehlo.broadcast_in_dim %[[CONSTANT_2]], dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[BROADCAST_3:.*]] = stablehlo.broadcast_in_dim %[[CONSTANT_2]], dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[BROADCAST_4:.*]] = stablehlo.broadcast_in_dim %[[CONSTANT_2]], dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[BROADCAST_5:.*]] = stablehlo.broadcast_in_dim %[[CONSTANT_2]], dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CASE:.*]] = "stablehlo.case"(%arg0) ({
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[CONSTANT]], %[[BROADCAST_2]] : tensor<8xf32>
// CHECK-NEXT: %[[ADD_1:.*]] = stablehlo.add %[[CONSTANT_1]], %[[BROADCAST_3]] : tensor<8xf32>
// CHECK-NEXT: %[[ADD_2:.*]] = stablehlo.add %[[ADD]], %arg2 : tensor<8xf32>
// CHECK-NEXT: %[[ADD_3:.*]] = stablehlo.add %[[ADD_1]], %[[ADD_2]] : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %[[ADD_3]] : tensor<8xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: %[[ADD_4:.*]] = stablehlo.add %[[IOTA]], %[[BROADCAST]] : tensor<8xf32>
// CHECK-NEXT: %[[ADD_5:.*]] = stablehlo.add %[[ADD_4]], %arg2 : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %[[ADD_5]] : tensor<8xf32>
// CHECK-NEXT: }) : (tensor<i32>) -> tensor<8xf32>
// CHECK-NEXT: %[[ADD_6:.*]] = stablehlo.add %[[BROADCAST_4]], %[[IOTA_1]] : tensor<8xf32>
// CHECK-NEXT: %[[ADD_7:.*]] = stablehlo.add %[[BROADCAST_5]], %[[IOTA_2]] : tensor<8xf32>
// CHECK-NEXT: %[[ADD_8:.*]] = stablehlo.add %[[ADD_6]], %[[ADD_6]] : tensor<8xf32>
// CHECK-NEXT: %[[ADD_9:.*]] = stablehlo.add %[[ADD_8]], %arg2 : tensor<8xf32>
// CHECK-NEXT: %[[ADD_10:.*]] = stablehlo.add %[[ADD_9]], %[[BROADCAST_1]] : tensor<8xf32>
// CHECK-NEXT: %[[ADD_11:.*]] = stablehlo.add %[[ADD_10]], %[[ADD_7]] : tensor<8xf32>
// CHECK-NEXT: return %[[CASE]], %[[ADD_11]], %[[CONSTANT_2]] : tensor<8xf32>, tensor<8xf32>, tensor<f32>
// CHECK-NEXT: }
func.func @main(%p: tensor<i32>, %s: tensor<f32>, %x: tensor<8xf32>) -> (tensor<8xf32>,tensor<8xf32>, tensor<f32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xf32>
  sdy.sharding_group %i group_id=3 : tensor<8xf32>
  sdy.sharding_group %i group_id=1 : tensor<8xf32>
  sdy.sharding_group %i group_id=2 : tensor<8xf32>
  %c = stablehlo.constant dense<2.0> : tensor<8xf32>
  sdy.sharding_group %c group_id=3 : tensor<8xf32>
  sdy.sharding_group %c group_id=1 : tensor<8xf32>
  sdy.sharding_group %c group_id=2 : tensor<8xf32>
  %u = stablehlo.constant dense<3.0> : tensor<8xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %z2 = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims=[] : (tensor<f32>) -> tensor<8xf32>
  %bz = stablehlo.broadcast_in_dim %z, dims=[] : (tensor<f32>) -> tensor<8xf32>
  %0 = "stablehlo.case"(%p) ({
    %n = stablehlo.add %c, %bz : tensor<8xf32>
    %n2 = stablehlo.add %n, %x : tensor<8xf32>
    %n3 = stablehlo.add %n, %n2 : tensor<8xf32>
    stablehlo.return %n3 : tensor<8xf32>
  },{
    %n = stablehlo.add %i, %b : tensor<8xf32>
    %n2 = stablehlo.add %n, %x : tensor<8xf32>
    stablehlo.return %n2 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  %q = stablehlo.add %bz, %i : tensor<8xf32>
  %q2 = stablehlo.add %q, %q : tensor<8xf32>
  %q3 = stablehlo.add %q2, %x : tensor<8xf32>
  %q4 = stablehlo.add %q3, %b : tensor<8xf32>
  %q5 = stablehlo.add %q4, %q : tensor<8xf32>
  return %0, %q5, %z : tensor<8xf32>,tensor<8xf32>,tensor<f32>
}

// -----

// Constant computations.
// CHECK:      func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.named_computation<"foo">() () {
// CHECK-NEXT: %[[CONSTANT:.*]] = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[CONSTANT]] : tensor<8xf32>
// CHECK-NEXT: } : () -> tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION_1:.*]]:2 = sdy.named_computation<"bar">() () {
// CHECK-NEXT: %[[CONSTANT_1:.*]] = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[CONSTANT_2:.*]] = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %[[CONSTANT_2]] : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[CONSTANT_1]], %[[NEGATE]] : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: } : () -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: sdy.sharding_group %[[COMPUTATION_1]]#1 group_id=4 : tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION_2:.*]]:2 = sdy.named_computation<"bar">() () {
// CHECK-NEXT: %[[CONSTANT_3:.*]] = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[CONSTANT_4:.*]] = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[NEGATE_1:.*]] = stablehlo.negate %[[CONSTANT_4]] : tensor<8xf32>
// CHECK-NEXT: sdy.return %[[CONSTANT_3]], %[[NEGATE_1]] : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: } : () -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: sdy.sharding_group %[[COMPUTATION_2]]#1 group_id=4 : tensor<8xf32>
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[COMPUTATION_1]]#1, %[[COMPUTATION_1]]#0 : tensor<8xf32>
// CHECK-NEXT: %[[ADD_1:.*]] = stablehlo.add %[[COMPUTATION_2]]#1, %[[COMPUTATION_2]]#0 : tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION_3:.*]] = sdy.named_computation<"foo">(%arg0) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %[[CONSTANT_5:.*]] = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[CONSTANT_6:.*]] = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot %[[CONSTANT_5]], %arg1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT: sdy.return %[[CONSTANT_6]] : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[COMPUTATION]], %[[COMPUTATION_3]], %[[ADD]], %[[ADD_1]] : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>,tensor<8xf32>,tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.named_computation<"foo">() () {
     %c = stablehlo.constant dense<2.0> : tensor<8xf32>
     sdy.return %c : tensor<8xf32>
  } : () -> tensor<8xf32>
  %1:2 = sdy.named_computation<"bar">() () {
     %c = stablehlo.constant dense<2.0> : tensor<8xf32>
     %n = stablehlo.negate %c : tensor<8xf32>
     sdy.return %c, %n : tensor<8xf32>, tensor<8xf32>
  } : () -> (tensor<8xf32>, tensor<8xf32>)
  sdy.sharding_group %1#0 group_id=3 : tensor<8xf32>
  sdy.sharding_group %1#1 group_id=4 : tensor<8xf32>
  %3 = stablehlo.add %1#1, %1#0 : tensor<8xf32>
  %2 = sdy.named_computation<"foo">(%x) (%a: tensor<8xf32>) {
     %c = stablehlo.constant dense<2.0> : tensor<8xf32>
     %5 = stablehlo.dot %c, %a : (tensor<8xf32>,tensor<8xf32>) -> tensor<f32>
     sdy.return %c : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %2, %3, %3 : tensor<8xf32>,tensor<8xf32>,tensor<8xf32>,tensor<8xf32>
}

// -----

// Several constants lead to a call without results, which is erased once.

// CHECK-LABEL: func.func @call_without_results(
// CHECK-NEXT: return %arg0 : tensor<8xf32>
func.func @call_without_results(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<8xf32>
  func.call @f(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> ()
  return %a : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>, %b: tensor<8xf32>) {
  return
}
