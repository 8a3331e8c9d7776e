// RUN: sdy-opt %s -sdy-propagation-pipeline | FileCheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline='dedup-functions-fully=true' | FileCheck %s --check-prefix=ONE

sdy.mesh @mesh = <["a"=2]>

// Each call has a function for its own shardings, or all have one together.
// CHECK: %arg1: tensor<8xf32>) ->
// ONE: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) ->
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
  // CHECK: call @f_0(%arg1)
  // ONE: call @f(%arg0)
  // ONE: call @f(%arg1)
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%arg1) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK: func.func private @f
// ONE-COUNT-1: func.func private
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
