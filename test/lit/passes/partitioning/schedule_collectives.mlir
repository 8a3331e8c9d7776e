// RUN: sdy-opt %s -split-input-file "-sdy-schedule-collectives=hardware=h100" | FileCheck %s
// RUN: sdy-opt %s -split-input-file "-pass-pipeline=builtin.module(sdy-schedule-collectives{hardware=h100}, sdy-schedule-collectives{hardware=h100})" | FileCheck %s
// RUN: sdy-opt %s -split-input-file "-pass-pipeline=builtin.module(sdy-schedule-collectives{hardware=h100}, sdy-legalize-async)" | FileCheck %s --check-prefix=PLAIN
// RUN: sdy-opt %s -split-input-file "-pass-pipeline=builtin.module(sdy-schedule-collectives{hardware=h100 keep=true})" | FileCheck %s --check-prefix=KEEP

// The gather runs beside the product that doesn't need it.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[START:.*]] = "stablehlo.async_start"(%arg1) ({
// CHECK-NEXT: ^bb0(%[[OPERAND:.*]]: tensor<512x1024xbf16>):
// CHECK-NEXT:   %[[INNER:.*]] = "stablehlo.all_gather"(%[[OPERAND]])
// CHECK-NEXT:   stablehlo.return %[[INNER]]
// CHECK-NEXT: }) : (tensor<512x1024xbf16>) -> !stablehlo.future<tensor<1024x1024xbf16>>
// CHECK-NEXT: %[[FIRST:.*]] = stablehlo.dot_general %arg0, %arg0
// CHECK-NEXT: %[[DONE:.*]] = "stablehlo.async_done"(%[[START]])
// CHECK-NEXT: stablehlo.dot_general %[[FIRST]], %[[DONE]]

// PLAIN-LABEL: func.func @main
// PLAIN-NEXT: %[[GATHER:.*]] = "stablehlo.all_gather"(%arg1)
// PLAIN-NEXT: %[[FIRST:.*]] = stablehlo.dot_general %arg0, %arg0
// PLAIN-NEXT: stablehlo.dot_general %[[FIRST]], %[[GATHER]]
func.func @main(%a: tensor<1024x1024xbf16>, %w: tensor<512x1024xbf16>) -> tensor<1024x1024xbf16> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %1 = "stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<512x1024xbf16>) -> tensor<1024x1024xbf16>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %2 : tensor<1024x1024xbf16>
}

// -----

// Nothing moves across an operation with effects.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: stablehlo.dot_general
// CHECK-NEXT: stablehlo.custom_call @print
// CHECK-NEXT: "stablehlo.async_start"
func.func @main(%a: tensor<1024x1024xbf16>, %w: tensor<512x1024xbf16>) -> tensor<1024x1024xbf16> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  stablehlo.custom_call @print(%0) {has_side_effect = true} : (tensor<1024x1024xbf16>) -> ()
  %1 = "stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<512x1024xbf16>) -> tensor<1024x1024xbf16>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %2 : tensor<1024x1024xbf16>
}

// -----

// A start that is awaited at once starts earlier; one that is never awaited is erased, and so is a
// second wait.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[START:.*]] = "stablehlo.async_start"(%arg1)
// CHECK: %[[FIRST:.*]] = stablehlo.dot_general %arg0, %arg0
// CHECK-NEXT: %[[DONE:.*]] = "stablehlo.async_done"(%[[START]])
// CHECK-NEXT: stablehlo.dot_general %[[FIRST]], %[[DONE]]
// CHECK-NEXT: return %{{.*}}, %[[DONE]]
// KEEP-LABEL: func.func @main
// KEEP-LABEL: func.func @main
// KEEP-LABEL: func.func @main
// KEEP-NEXT: stablehlo.dot_general %arg0, %arg0
// KEEP-NEXT: "stablehlo.async_start"(%arg1)
func.func @main(%a: tensor<1024x1024xbf16>, %w: tensor<512x1024xbf16>) -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %1 = "stablehlo.async_start"(%w) ({
  ^bb0(%b: tensor<512x1024xbf16>):
    %g = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<512x1024xbf16>) -> tensor<1024x1024xbf16>
    stablehlo.return %g : tensor<1024x1024xbf16>
  }) : (tensor<512x1024xbf16>) -> !stablehlo.future<tensor<1024x1024xbf16>>
  %2 = "stablehlo.async_start"(%w) ({
  ^bb0(%b: tensor<512x1024xbf16>):
    %g = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<512x1024xbf16>) -> tensor<1024x1024xbf16>
    stablehlo.return %g : tensor<1024x1024xbf16>
  }) : (tensor<512x1024xbf16>) -> !stablehlo.future<tensor<1024x1024xbf16>>
  %3 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<1024x1024xbf16>>) -> tensor<1024x1024xbf16>
  %4 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<1024x1024xbf16>>) -> tensor<1024x1024xbf16>
  %5 = stablehlo.dot_general %0, %3, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %5, %4 : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>
}
