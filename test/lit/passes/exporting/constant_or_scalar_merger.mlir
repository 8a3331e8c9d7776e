// RUN: sdy-opt %s -sdy-constant-or-scalar-merger | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The name of the operation does not count, its attributes do.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[X:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<3.0
  // CHECK-NEXT: %[[Y:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<3.0
  // CHECK-NEXT: %[[NONE:.*]] = sdy.constant dense<3.0
  // CHECK-NEXT: sdy.sharding_group %[[X]] group_id=1
  // CHECK-NEXT: return %[[X]], %[[Y]], %[[X]], %[[NONE]], %[[NONE]]
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<3.0> : tensor<8xf32>
  %1 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<3.0> : tensor<8xf32>
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<3.0> : tensor<8xf32>
  %3 = sdy.constant dense<3.0> : tensor<8xf32>
  %4 = stablehlo.constant dense<3.0> : tensor<8xf32>
  sdy.sharding_group %2 group_id=1 : tensor<8xf32>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @broadcasts
func.func @broadcasts(%arg0: tensor<f32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<2x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[A]], %[[A]]
  // Only scalars.
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg1
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg1
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.add %0, %1 : tensor<8xf32>
  %4 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<2x8xf32>
  %5 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<2x8xf32>
  %6 = stablehlo.add %4, %5 : tensor<2x8xf32>
  return %3, %2, %6 : tensor<8xf32>, tensor<4xf32>, tensor<2x8xf32>
}

// The values are the same, the types are not.
// CHECK-LABEL: func.func @types
func.func @types() -> (tensor<2xi8>, tensor<2x!quant.uniform<i8:f32, 2.0:15>>) {
  // CHECK-NEXT: %[[A:.*]] = sdy.constant dense<1> : tensor<2xi8>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.constant
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = sdy.constant dense<1> : tensor<2xi8>
  %1 = "stablehlo.constant"() {value = dense<1> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 2.0:15>>
  return %0, %1 : tensor<2xi8>, tensor<2x!quant.uniform<i8:f32, 2.0:15>>
}

// A constant stays in its region, and `iota` stays anyway.
// CHECK-LABEL: func.func @regions
func.func @regions(%arg0: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  // CHECK-NEXT: sdy.constant dense<1>
  // CHECK-NEXT: stablehlo.while
  // CHECK:      do {
  // CHECK-NEXT: %[[INNER:.*]] = sdy.constant dense<1>
  // CHECK-NEXT: stablehlo.add %[[INNER]], %[[INNER]]
  %0 = sdy.constant dense<1> : tensor<8xi32>
  %1 = stablehlo.while(%arg1 = %0) : tensor<8xi32>
  cond {
    %4 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %4 = sdy.constant dense<1> : tensor<8xi32>
    %5 = sdy.constant dense<1> : tensor<8xi32>
    %6 = stablehlo.add %4, %5 : tensor<8xi32>
    stablehlo.return %6 : tensor<8xi32>
  }
  // CHECK: stablehlo.iota
  // CHECK: stablehlo.iota
  %2 = stablehlo.iota dim = 0 : tensor<8xi32>
  %3 = stablehlo.iota dim = 0 : tensor<8xi32>
  return %2, %3 : tensor<8xi32>, tensor<8xi32>
}

// A constant takes the place of one in another block only if it comes before it on any way.
// CHECK-LABEL: func.func @blocks
func.func @blocks(%arg0: i1) -> tensor<8xf32> {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.constant dense<1.0
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  cf.cond_br %arg0, ^bb1, ^bb2
^bb1:
  // CHECK: ^bb1:
  // CHECK-NEXT: %[[LEFT:.*]] = sdy.constant dense<2.0
  // CHECK-NEXT: stablehlo.add %[[FIRST]], %[[LEFT]]
  %1 = sdy.constant dense<1.0> : tensor<8xf32>
  %2 = sdy.constant dense<2.0> : tensor<8xf32>
  %3 = stablehlo.add %1, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
^bb2:
  // CHECK: ^bb2:
  // CHECK-NEXT: %[[RIGHT:.*]] = sdy.constant dense<2.0
  // CHECK-NEXT: return %[[RIGHT]]
  %4 = sdy.constant dense<2.0> : tensor<8xf32>
  return %4 : tensor<8xf32>
}
