// RUN: sdy-opt %s --sdy-remove-propagation-barriers | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: @barriers
// CHECK-NOT: sdy.propagation_barrier
// CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %arg0
// CHECK-NEXT: return %[[SUM]], %arg0
func.func @barriers(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<8xf32>
}

// The sharding of a barrier only matters to propagation, and is dropped with it.
// CHECK-LABEL: @sharded
// CHECK-NEXT: return %arg0
func.func @sharded(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
