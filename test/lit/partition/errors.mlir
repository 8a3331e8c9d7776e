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
