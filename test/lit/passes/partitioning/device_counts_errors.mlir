// RUN: sdy-opt %s "-sdy-convert-global-to-local=replica-count=2 partition-count=2" -verify-diagnostics
// RUN: sdy-opt %s "-sdy-convert-global-to-local=replica-count=0" -verify-diagnostics
// RUN: sdy-opt %s "-sdy-resolve-permutation-factors=partition-count=-3" -verify-diagnostics

// expected-error@below {{set only one of 'replica-count' and 'partition-count', to 1 or more}}
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32>
  }
}
