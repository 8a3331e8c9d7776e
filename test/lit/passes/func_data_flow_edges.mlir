// RUN: sdy-opt %s -sdy-add-func-data-flow-edges | FileCheck %s --check-prefix=ADD
// RUN: sdy-opt %s -sdy-add-func-data-flow-edges -sdy-sink-func-data-flow-edges | FileCheck %s --check-prefix=SINK
// RUN: sdy-opt %s -sdy-propagate-to-func-results | FileCheck %s --check-prefix=RESULTS

sdy.mesh @mesh = <["a"=2]>

// ADD-LABEL: func.func @main
// SINK-LABEL: func.func @main
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // ADD-NEXT: %0 = call @f(%arg0)
  // ADD-NEXT: %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
  // ADD-NEXT: return %1
  // SINK-NEXT: %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  // SINK-NEXT: return %0
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// ADD-LABEL: func.func private @f
// ADD-NEXT: %0 = sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
// ADD-NEXT: return %0
// SINK-LABEL: func.func private @f
// SINK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}
// SINK-NEXT: return %arg0
// RESULTS-LABEL: func.func private @f
// RESULTS-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
    -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// A result whose value has no sharding loses its own.
// RESULTS-LABEL: func.func private @g
// RESULTS-SAME: -> tensor<8xf32>
func.func private @g(%arg0: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  return %arg0 : tensor<8xf32>
}
