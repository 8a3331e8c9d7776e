// RUN: sdy-opt %s -sdy-convert-global-to-local -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>
// expected-error@+1 {{dimension 0 of size 7 is not divisible by its axes "x" of size 2}}
func.func @odd(%arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @no_local_form(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error@+1 {{'stablehlo.reverse' op can't be computed on shards}}
  %0 = stablehlo.reverse %arg0, dims = [0] : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @reduce(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  // expected-error@+1 {{'stablehlo.reduce' op has operands and results with incompatible shardings, sharded as <@mesh, [{}, {"x"}]> and replicated and sharded as <@mesh, [{"x"}]>: run 'sdy-insert-explicit-reshards{enable-full-version=true}' first}}
  %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @dot(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<8x4xf32>) {
  // expected-error@+1 {{'stablehlo.dot' op has operands and results with incompatible shardings}}
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}
