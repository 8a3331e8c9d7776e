// Functions without a body are called, but not copied, imported or erased. C++ Shardy aborts on
// some of them, and copies or erases others.

// RUN: sdy-opt %s -sdy-flatten-call-graph | FileCheck %s --check-prefix=SAME
// RUN: sdy-opt %s -sdy-import-func-calls | FileCheck %s --check-prefix=SAME
// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter | FileCheck %s --check-prefix=SAME
// RUN: sdy-opt %s -sdy-pre-order-funcs | FileCheck %s --check-prefix=ORDER
// RUN: sdy-opt %s -sdy-add-func-data-flow-edges | FileCheck %s --check-prefix=EDGES
// RUN: sdy-opt %s -sdy-remove-size-one-axes -sdy-propagate-sharding-from-func-to-call | FileCheck %s --check-prefix=SHARDED

// ORDER:      sdy.mesh @mesh
// ORDER-NEXT: func.func private @declared
// ORDER-NEXT: func.func private @effect
// ORDER-NEXT: func.func @main
sdy.mesh @mesh = <["x"=2, "one"=1]>

// SAME:      func.func @main
// SAME-NEXT: %[[CALL:.*]] = call @declared() : () -> tensor<8xf32>
// SAME-NEXT: %[[ADD:.*]] = stablehlo.add %[[CALL]], %[[CALL]] : tensor<8xf32>
// SAME-NEXT: %[[CALL_1:.*]] = call @declared() : () -> tensor<8xf32>
// SAME-NEXT: call @effect() : () -> ()
// SAME-NEXT: return %[[ADD]], %[[CALL_1]] : tensor<8xf32>, tensor<8xf32>

// EDGES:      %[[CALL:.*]] = call @declared() : () -> tensor<8xf32>
// EDGES-NEXT: %[[EDGE:.*]] = sdy.func_data_flow_edge %[[CALL]] : tensor<8xf32>

// SHARDED:     call @declared() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// SHARDED:     func.func private @declared() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
func.func @main() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @declared() : () -> tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  %2 = call @declared() : () -> tensor<8xf32>
  call @effect() : () -> ()
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

func.func private @declared() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one"}]>})
func.func private @effect()
