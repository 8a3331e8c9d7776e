// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-aggressive-propagate | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<i32>)
    -> tensor<8x8xf32> {
  %c = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%i = %arg0) : tensor<8x8xf32> cond {
    stablehlo.return %c : tensor<i1>
  } do {
    // CHECK: stablehlo.tanh %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>}
    %5 = stablehlo.tanh %i : tensor<8x8xf32>
    stablehlo.return %5 : tensor<8x8xf32>
  }
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"a", ?}, {"b", ?}]>
  // CHECK: stablehlo.optimization_barrier
  %1 = stablehlo.optimization_barrier %0 : tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"a", ?}, {"b", ?}]>
  // CHECK: "stablehlo.case"
  %2 = "stablehlo.case"(%arg1) ({
    // CHECK: stablehlo.abs %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>}
    %5 = stablehlo.abs %1 : tensor<8x8xf32>
    stablehlo.return %5 : tensor<8x8xf32>
  }, {
    stablehlo.return %1 : tensor<8x8xf32>
  }) : (tensor<i32>) -> tensor<8x8xf32>
  // Inside, there are the free axes only; the manual ones stay outside.
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"a"}, {"b", ?}]>]
      out_shardings=[<@mesh, [{"a"}, {?}]>] manual_axes={"a"} (%arg2: tensor<4x8xf32>) {
    // CHECK: sdy.data_flow_edge %arg2 sharding=<@mesh, [{}, {"b", ?}]>
    // CHECK: stablehlo.negate %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"b", ?}]>]>}
    %5 = stablehlo.negate %arg2 : tensor<4x8xf32>
    sdy.return %5 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"a"}, {"b", ?}]>
  return %3 : tensor<8x8xf32>
}

// Values stay partial by a maximum, inside and outside, also where propagation changes dimensions.
// CHECK-LABEL: func.func @unreduced_by_maximum
func.func @unreduced_by_maximum(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: in_shardings=[<@mesh, [{?}, {?}], unreduced=max{"a"}>] out_shardings=[<@mesh, [{?}, {?}], unreduced=max{"a"}>]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{?}, {?}], unreduced=max{"a"}>]
      out_shardings=[<@mesh, [{?}, {?}], unreduced=max{"a"}>] manual_axes={} (%arg1: tensor<8x8xf32>) {
    // CHECK: sdy.data_flow_edge %arg1 sharding=<@mesh, [{"b", ?}, {?}], unreduced=max{"a"}>
    // CHECK: stablehlo.negate
    %2 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>} : tensor<8x8xf32>
    sdy.return %2 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %[[VALUE:[0-9]+]] sharding=<@mesh, [{"b", ?}, {?}], unreduced=max{"a"}>
  %1 = stablehlo.abs %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
