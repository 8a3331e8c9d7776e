// RUN: sdy-opt %s -sdy-unflatten-call-graph -split-input-file | FileCheck %s
// RUN: sdy-opt %s -sdy-unflatten-call-graph=dedup-functions-fully=true -split-input-file | FileCheck %s --check-prefix=FULLY

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Calls go to the first that is sharded alike; fully, to the one whose sharding is called most.
// CHECK-LABEL: func.func @main
// FULLY-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: call @baz(
  // CHECK-NEXT: call @baz_0(
  // CHECK-NEXT: call @baz_0(
  // CHECK-NEXT: call @baz_2(
  // CHECK-NEXT: call @other(
  // FULLY-NEXT: call @baz_1(
  // FULLY-NEXT: call @baz_1(
  // FULLY-NEXT: call @baz_1(
  // FULLY-NEXT: call @baz_2(
  // FULLY-NEXT: call @other(
  %0 = call @baz(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @baz_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @baz_1(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = call @baz_2(%2) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = call @other(%3) : (tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// CHECK-NOT: original_func_name
// CHECK-NOT: func_manual_axes
func.func private @baz(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func private @baz_0(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32>
    attributes {sdy.original_func_name = "baz"} {
  return %arg0 : tensor<8xf32>
}
func.func private @baz_1(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32>
    attributes {sdy.original_func_name = "baz"} {
  return %arg0 : tensor<8xf32>
}
// Within a manual computation it is another function.
func.func private @baz_2(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32>
    attributes {sdy.func_manual_axes = #sdy<manual_axes{"x"}>, sdy.original_func_name = "baz"} {
  return %arg0 : tensor<8xf32>
}
func.func private @other(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// -----

// Named computations may have one name and do different things.
// CHECK-LABEL: func.func @main
// FULLY-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>) {
  // CHECK-NEXT: call @foo(
  // CHECK-NEXT: call @foo_0(
  // CHECK-NEXT: call @foo_1(
  // CHECK-NEXT: call @foo(
  // FULLY-NEXT: call @foo(
  // FULLY-NEXT: call @foo_0(
  // FULLY-NEXT: call @foo_1(
  // FULLY-NEXT: call @foo(
  %0 = call @foo(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @foo_0(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @foo_1(%arg0) : (tensor<8xf32>) -> tensor<4xf32>
  %3 = call @foo_2(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>
}
func.func private @foo(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "foo"} {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = func.call @bar(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @foo_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "foo"} {
  %0 = stablehlo.abs %arg0 : tensor<8xf32>
  %1 = func.call @bar_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @foo_1(%arg0: tensor<8xf32>) -> tensor<4xf32> attributes {sdy.original_func_name = "foo"} {
  %0 = stablehlo.slice %arg0 [0:4] : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @foo_2(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "foo"} {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = func.call @bar_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @bar(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func private @bar_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "bar"} {
  return %arg0 : tensor<8xf32>
}
