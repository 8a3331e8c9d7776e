// RUN: sdy-opt %s -sdy-propagate-to-func-results -split-input-file -verify-diagnostics | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>

// Shardings of the main function's results are the user's.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>})
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
    -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
  return %arg0, %arg0 : tensor<8xf32>, tensor<8xf32>
}

// Other attributes stay.
// CHECK-LABEL: func.func private @f
// CHECK-SAME: -> (tensor<8xf32> {my.note = "v", sdy.sharding = #sdy.sharding<@mesh, [{"b", ?}]>})
func.func private @f(%arg0: tensor<8xf32>) -> (tensor<8xf32> {my.note = "v"}) {
  %0 = stablehlo.optimization_barrier %arg0 : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"b", ?}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A result whose value has no sharding loses its own.
// CHECK-LABEL: func.func private @g
// CHECK-SAME: (%arg0: tensor<8xf32>) -> tensor<8xf32>
func.func private @g(%arg0: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  return %arg0 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @declaration
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
func.func private @declaration(tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})

// -----

// expected-error@+1 {{a module with several functions must have one called 'main'}}
func.func @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func @g(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
