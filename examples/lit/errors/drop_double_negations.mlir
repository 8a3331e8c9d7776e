// RUN: sdy-opt %s --load-passes=%passes --verify-diagnostics --pass-pipeline='builtin.module(func.func(drop-double-negations{strict=true}))'

func.func @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'stablehlo.negate' op is left: write a difference}}
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
