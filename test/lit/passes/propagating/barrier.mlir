// RUN: sdy-opt %s -sdy-basic-propagate | FileCheck %s

sdy.mesh @mesh = <["a"=2]>

// A barrier lets shardings pass in its direction only.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8xf32>, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}
func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[PROPAGATION_BARRIER:.*]] = sdy.propagation_barrier %arg0 allowed_direction=FORWARD {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>}
  %0 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD : tensor<8xf32>
  %1 = sdy.propagation_barrier %arg1 allowed_direction=BACKWARD : tensor<8xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{"a"}]> : tensor<8xf32>
  %3 = sdy.sharding_constraint %1 <@mesh, [{"a"}]> : tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}
