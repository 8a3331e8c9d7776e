// RUN: sdy-opt %s -split-input-file -sdy-constant-or-scalar-splitter | FileCheck %s

// Constants.
// CHECK:      func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
// CHECK-NEXT: %0 = sdy.constant dense<2.000000e+00> : tensor<8x4xf32>
// CHECK-NEXT: %1 = sdy.constant dense<2.000000e+00> : tensor<8x4xf32>
// CHECK-NEXT: %2 = stablehlo.negate %0 : tensor<8x4xf32>
// CHECK-NEXT: %3 = stablehlo.dot %arg0, %2 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %4 = stablehlo.dot %arg0, %1 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: return %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>
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
// CHECK-NEXT: %0 = call @k_2() : () -> tensor<8xi32>
// CHECK-NEXT: %1 = call @k_4() : () -> tensor<8xi32>
// CHECK-NEXT: return %0, %1 : tensor<8xi32>, tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @k() -> tensor<8xi32> {
// CHECK-NEXT: %0 = stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK-NEXT: %1 = call @h_0(%0) : (tensor<8xi32>) -> tensor<8xi32>
// CHECK-NEXT: return %1 : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @h(%arg0: tensor<8xi32>) -> tensor<8xi32> {
// CHECK-NEXT: %0 = stablehlo.negate %arg0 : tensor<8xi32>
// CHECK-NEXT: return %0 : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @h_0(%arg0: tensor<8xi32>) -> tensor<8xi32> attributes {sdy.original_func_name = "h"} {
// CHECK-NEXT: %0 = stablehlo.negate %arg0 : tensor<8xi32>
// CHECK-NEXT: return %0 : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @h_0_1(%arg0: tensor<8xi32>) -> tensor<8xi32> attributes {sdy.original_func_name = "h"} {
// CHECK-NEXT: %0 = stablehlo.negate %arg0 : tensor<8xi32>
// CHECK-NEXT: return %0 : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @k_2() -> tensor<8xi32> attributes {sdy.original_func_name = "k"} {
// CHECK-NEXT: %0 = stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK-NEXT: %1 = call @h_0_1(%0) : (tensor<8xi32>) -> tensor<8xi32>
// CHECK-NEXT: return %1 : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @h_0_3(%arg0: tensor<8xi32>) -> tensor<8xi32> attributes {sdy.original_func_name = "h"} {
// CHECK-NEXT: %0 = stablehlo.negate %arg0 : tensor<8xi32>
// CHECK-NEXT: return %0 : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @k_4() -> tensor<8xi32> attributes {sdy.original_func_name = "k"} {
// CHECK-NEXT: %0 = stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK-NEXT: %1 = call @h_0_3(%0) : (tensor<8xi32>) -> tensor<8xi32>
// CHECK-NEXT: return %1 : tensor<8xi32>
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
// CHECK-NEXT: %0 = stablehlo.iota dim = 0 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %0 group_id=2 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %0 group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %0 group_id=3 : tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.iota dim = 0 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %1 group_id=2 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %1 group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %1 group_id=3 : tensor<8xf32>
// CHECK-NEXT: %2 = stablehlo.iota dim = 0 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %2 group_id=2 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %2 group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %2 group_id=3 : tensor<8xf32>
// CHECK-NEXT: %3 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %3 group_id=3 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %3 group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %3 group_id=2 : tensor<8xf32>
// CHECK-NEXT: %4 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %4 group_id=3 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %4 group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %4 group_id=2 : tensor<8xf32>
// CHECK-NEXT: %5 = sdy.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %6 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %7 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %8 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %9 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %10 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %11 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %12 = "stablehlo.case"(%arg0) ({
// CHECK-NEXT: %19 = stablehlo.add %3, %8 : tensor<8xf32>
// CHECK-NEXT: %20 = stablehlo.add %4, %9 : tensor<8xf32>
// CHECK-NEXT: %21 = stablehlo.add %19, %arg2 : tensor<8xf32>
// CHECK-NEXT: %22 = stablehlo.add %20, %21 : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %22 : tensor<8xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: %19 = stablehlo.add %0, %6 : tensor<8xf32>
// CHECK-NEXT: %20 = stablehlo.add %19, %arg2 : tensor<8xf32>
// CHECK-NEXT: stablehlo.return %20 : tensor<8xf32>
// CHECK-NEXT: }) : (tensor<i32>) -> tensor<8xf32>
// CHECK-NEXT: %13 = stablehlo.add %10, %1 : tensor<8xf32>
// CHECK-NEXT: %14 = stablehlo.add %11, %2 : tensor<8xf32>
// CHECK-NEXT: %15 = stablehlo.add %13, %13 : tensor<8xf32>
// CHECK-NEXT: %16 = stablehlo.add %15, %arg2 : tensor<8xf32>
// CHECK-NEXT: %17 = stablehlo.add %16, %7 : tensor<8xf32>
// CHECK-NEXT: %18 = stablehlo.add %17, %14 : tensor<8xf32>
// CHECK-NEXT: return %12, %18, %5 : tensor<8xf32>, tensor<8xf32>, tensor<f32>
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
// CHECK-NEXT: %0 = sdy.named_computation<"foo">() () {
// CHECK-NEXT: %6 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: sdy.return %6 : tensor<8xf32>
// CHECK-NEXT: } : () -> tensor<8xf32>
// CHECK-NEXT: %1:2 = sdy.named_computation<"bar">() () {
// CHECK-NEXT: %6 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %8 = stablehlo.negate %7 : tensor<8xf32>
// CHECK-NEXT: sdy.return %6, %8 : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: } : () -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: sdy.sharding_group %1#1 group_id=4 : tensor<8xf32>
// CHECK-NEXT: %2:2 = sdy.named_computation<"bar">() () {
// CHECK-NEXT: %6 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %8 = stablehlo.negate %7 : tensor<8xf32>
// CHECK-NEXT: sdy.return %6, %8 : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: } : () -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: sdy.sharding_group %2#1 group_id=4 : tensor<8xf32>
// CHECK-NEXT: %3 = stablehlo.add %1#1, %1#0 : tensor<8xf32>
// CHECK-NEXT: %4 = stablehlo.add %2#1, %2#0 : tensor<8xf32>
// CHECK-NEXT: %5 = sdy.named_computation<"foo">(%arg0) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %6 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %8 = stablehlo.dot %6, %arg1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT: sdy.return %7 : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %0, %5, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
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
