// RUN: sdy-opt %s -sdy-legalize-async | FileCheck %s
// RUN: sdy-opt %s "-sdy-legalize-async=keep=all_gather" | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[GATHER:.*]] = "stablehlo.all_gather"(%arg0)
// CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %arg0 [0:2]
// CHECK-NEXT: %[[TANH:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[GATHER]], %[[TANH]], %[[SLICE]]
// KEEP: "stablehlo.async_start"
// KEEP-NEXT: ^bb0
// KEEP-NEXT: all_gather
// KEEP-NOT: "stablehlo.async_start"
func.func @main(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<4xf32>):
    %g = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  %1 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<4xf32>):
    %s = stablehlo.slice %b [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  %2 = stablehlo.tanh %a : tensor<4xf32>
  %3 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  %4 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return %4, %2, %3 : tensor<8xf32>, tensor<4xf32>, tensor<2xf32>
}
