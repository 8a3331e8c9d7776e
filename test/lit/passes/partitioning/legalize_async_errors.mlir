// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-legalize-async

// Futures that another function starts, or awaits.

func.func @main(%a: !stablehlo.future<tensor<4xf32>>) -> tensor<4xf32> {
  // expected-error@+1 {{the future of 'stablehlo.async_done' isn't awaited once, by a 'stablehlo.async_done' in the function that starts it, so that it can't become synchronous}}
  %0 = "stablehlo.async_done"(%a) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> {
  // expected-error@+1 {{the future of 'stablehlo.async_start' isn't awaited once}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<4xf32>):
    %g = "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %g : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return %0 : !stablehlo.future<tensor<4xf32>>
}
