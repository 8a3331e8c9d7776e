// RUN: sdy-opt %s -split-input-file -sdy-schedule-collectives | FileCheck %s
// RUN: sdy-opt %s -split-input-file -sdy-legalize-async | FileCheck %s --check-prefix=PLAIN

// A future may be awaited twice, or never; then its start is erased.
// CHECK-LABEL: func.func @main
// CHECK: "stablehlo.async_start"
// CHECK: %[[DONE:.*]] = "stablehlo.async_done"
// CHECK-NEXT: return %[[DONE]], %[[DONE]]
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
// PLAIN-LABEL: func.func @main
// PLAIN-NEXT: %[[DONE:.*]] = "stablehlo.collective_permute"(%arg0)
// PLAIN-NEXT: return %[[DONE]], %[[DONE]]
// PLAIN-LABEL: func.func @main
// PLAIN-NEXT: return %arg0
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<4xf32>):
    %g = "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %g : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
// -----
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<4xf32>):
    %g = "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %g : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return %a : tensor<4xf32>
}
