// RUN: sdy-opt %s -split-input-file -sdy-import-func-calls | FileCheck %s

// Imported.
// CHECK:      func.func private @z(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: return %arg0 : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %0 = sdy.named_computation<"a">(%arg0) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %6 = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.named_computation<"d">(%6) (%arg2: tensor<8xf32>) {
// CHECK-NEXT: %9 = sdy.data_flow_edge %arg2 : tensor<8xf32>
// CHECK-NEXT: %10 = stablehlo.abs %9 : tensor<8xf32>
// CHECK-NEXT: sdy.return %10 : tensor<8xf32>
// CHECK-NEXT: } {foo = "x"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %8 = sdy.data_flow_edge %7 : tensor<8xf32>
// CHECK-NEXT: sdy.return %8 : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.data_flow_edge %0 : tensor<8xf32>
// CHECK-NEXT: %2 = sdy.named_computation<"b">(%1) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %6 = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.named_computation<"d">(%6) (%arg2: tensor<8xf32>) {
// CHECK-NEXT: %9 = sdy.data_flow_edge %arg2 : tensor<8xf32>
// CHECK-NEXT: %10 = stablehlo.abs %9 : tensor<8xf32>
// CHECK-NEXT: sdy.return %10 : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %8 = sdy.data_flow_edge %7 : tensor<8xf32>
// CHECK-NEXT: sdy.return %8 : tensor<8xf32>
// CHECK-NEXT: } {execution_thread = "thread"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %3 = sdy.data_flow_edge %2 : tensor<8xf32>
// CHECK-NEXT: %4 = sdy.named_computation<"a">(%3) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %6 = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.named_computation<"d">(%6) (%arg2: tensor<8xf32>) {
// CHECK-NEXT: %9 = sdy.data_flow_edge %arg2 : tensor<8xf32>
// CHECK-NEXT: %10 = stablehlo.abs %9 : tensor<8xf32>
// CHECK-NEXT: sdy.return %10 : tensor<8xf32>
// CHECK-NEXT: } {foo = "x"} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %8 = sdy.data_flow_edge %7 : tensor<8xf32>
// CHECK-NEXT: sdy.return %8 : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = sdy.data_flow_edge %4 : tensor<8xf32>
// CHECK-NEXT: return %5 : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @y(%arg0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: return %arg0 : tensor<8xf32>
// CHECK-NEXT: }
func.func private @z(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @a(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @b(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @a(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @a(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @c(%a) {foo = "x"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @b(%a: tensor<8xf32>) -> tensor<8xf32> attributes {execution_thread = "thread"} {
  %0 = call @c(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @c(%a: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "d"} {
  %0 = stablehlo.abs %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @y(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

// Attributes of an imported call.
// CHECK:      sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32>, %arg1: !stablehlo.token) -> tensor<8xf32> {
// CHECK-NEXT: %0:2 = sdy.named_computation<"original">(%arg0, %arg1) in_shardings=[<@m, [{"y"}]>, <@m, []>] out_shardings=[<@m, [{"x"}]>, <@m, []>] (%arg2: tensor<8xf32>, %arg3: !stablehlo.token) {
// CHECK-NEXT: %2 = sdy.data_flow_edge %arg2 sharding=<@m, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT: sdy.return %2, %arg3 : tensor<8xf32>, !stablehlo.token
// CHECK-NEXT: } {execution_thread = "thread", foo = "x"} : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
// CHECK-NEXT: %1 = sdy.data_flow_edge %0#0 sharding=<@m, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: return %1 : tensor<8xf32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xf32>, %t: !stablehlo.token) -> tensor<8xf32> {
  %0:2 = call @f(%a, %t)
      {foo = "x", sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>, <@m, []>]>}
      : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
  return %0#0 : tensor<8xf32>
}
func.func @f(%p: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}, %t: !stablehlo.token)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}, !stablehlo.token)
    attributes {execution_thread = "thread", sdy.original_func_name = "original"} {
  return %p, %t : tensor<8xf32>, !stablehlo.token
}
