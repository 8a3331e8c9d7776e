// RUN: sdy-opt %s -sdy-export-named-computations | FileCheck %s

// The names of meshes and functions are taken; numbers go on over all names.
sdy.mesh @foo = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[CALL:.*]] = call @foo_1(%arg0) {my.note = "n", sdy.sharding = #sdy.sharding_per_value<[<@foo, [{"y"}]>]>}
  // CHECK-NEXT: %[[CALL_1:.*]]:2 = call @foo_2(%[[CALL]], %arg0) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: %[[CALL_2:.*]] = call @bar_3() : () -> tensor<8xf32>
  // CHECK-NEXT: call @void() : () -> ()
  // CHECK-NEXT: call @computation() : () -> ()
  // CHECK-NEXT: return %[[CALL_1]]#0, %[[CALL_2]]
  %0 = sdy.named_computation<"foo">(%arg0) in_shardings=[<@foo, [{}]>] out_shardings=[<@foo, [{}]>] (%arg1: tensor<8xf32>) {
    %5 = sdy.data_flow_edge %arg1 sharding=<@foo, [{"x", ?}]> : tensor<8xf32>
    %6 = sdy.named_computation<"bar">(%5) (%arg2: tensor<8xf32>) {
      sdy.return %arg2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %6 : tensor<8xf32>
  } {execution_thread = "t", my.note = "n"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@foo, [{"y"}]> : tensor<8xf32>
  %2:2 = sdy.named_computation<"foo">(%1, %arg0) (%arg1: tensor<8xf32>, %arg2: tensor<8xf32>) {
    %5 = sdy.data_flow_edge %arg1 : tensor<8xf32>
    sdy.return %arg2, %5 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3 = sdy.data_flow_edge %2#0 : tensor<8xf32>
  %4 = sdy.named_computation<"bar">() () {
    %5 = sdy.constant dense<1.0> : tensor<8xf32>
    sdy.return %5 : tensor<8xf32>
  } : () -> tensor<8xf32>
  sdy.named_computation<"void">() () {
    sdy.return
  } : () -> ()
  sdy.named_computation<"">() () {
    sdy.return
  } : () -> ()
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}

func.func private @bar(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// CHECK:      func.func private @bar_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "bar"} {
// CHECK-NEXT:   return %arg0
// CHECK:      func.func private @foo_1(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@foo, [{"x", ?}]>}) -> tensor<8xf32>
// CHECK-SAME:     attributes {execution_thread = "t", sdy.original_func_name = "foo"} {
// CHECK-NEXT:   %[[CALL:.*]] = call @bar_0(%arg0)
// CHECK-NEXT:   return %[[CALL]]
// CHECK:      func.func private @foo_2(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT:   return %arg1, %arg0
// CHECK:      func.func private @bar_3() -> tensor<8xf32>
// CHECK:      func.func private @void() attributes {sdy.original_func_name = "void"} {
// CHECK:      func.func private @computation() attributes {sdy.original_func_name = ""} {
