// RUN: sdy-opt %s -sdy-sink-data-flow-edges | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>

// Other results become fully open, whatever the operation said.
// CHECK-LABEL: func.func @barrier
func.func @barrier(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: !stablehlo.token)
    -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[OPTIMIZATION_BARRIER:.*]]:3 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{"a", ?}p1]>, <@mesh, []>]>}
  // CHECK-NEXT: return %[[OPTIMIZATION_BARRIER]]#0, %[[OPTIMIZATION_BARRIER]]#1
  %0:3 = stablehlo.optimization_barrier
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>, <@mesh, [{"c"}]>, <@mesh, []>]>}
      %arg0, %arg1, %arg2 : tensor<8xf32>, tensor<8xf32>, !stablehlo.token
  %1 = sdy.data_flow_edge %0#0 : tensor<8xf32>
  %2 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{"a", ?}p1]> : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// Without a sharding on any edge the operation keeps its own.
// CHECK-LABEL: func.func @unsharded
func.func @unsharded(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[OPTIMIZATION_BARRIER:.*]] = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>}
  // CHECK-NEXT: return %[[OPTIMIZATION_BARRIER]]
  %0 = stablehlo.optimization_barrier
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} %arg0 : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// What is free goes behind the manual axes; replicated axes of the operands stay.
// CHECK-LABEL: func.func @manual
func.func @manual(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", "c", ?}p1], replicated={"b"}>]
  // CHECK-SAME: out_shardings=[<@mesh, [{"a", "c", ?}], replicated={"b"}>] manual_axes={"a", "b"}
  // CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg1
  // CHECK: return %[[MANUAL]]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", ?}], replicated={"b"}>]
      out_shardings=[<@mesh, [{"a", ?}], replicated={"b"}>] manual_axes={"a", "b"} (%arg1: tensor<4xf32>) {
    %2 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"c", ?}p1]> : tensor<4xf32>
    %3 = stablehlo.negate %2 : tensor<4xf32>
    sdy.return %3 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"a", "c", ?}], replicated={"b"}> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// The arguments of a body and the results are filled in each for themselves.
// CHECK-LABEL: func.func @named
func.func @named(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.named_computation<"f">(%arg0, %arg0) in_shardings=[<@mesh, [{?}]>, <@mesh, [{"a"}]>] (%arg1: tensor<8xf32>, %arg2: tensor<8xf32>) {
  // CHECK-NEXT: sdy.return %arg2
  // CHECK: return %[[COMPUTATION]]
  %0 = sdy.named_computation<"f">(%arg0, %arg0) (%arg1: tensor<8xf32>, %arg2: tensor<8xf32>) {
    %2 = sdy.data_flow_edge %arg2 sharding=<@mesh, [{"a"}]> : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// What is filled in is on the mesh of the edge, which may have no name.
// CHECK-LABEL: func.func @inlined_mesh
func.func @inlined_mesh(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.sharding_per_value<[<mesh<["a"=2]>, [{?}]>, <mesh<["a"=2]>, [{"a"}]>]>
  %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<8xf32>, tensor<8xf32>
  %1 = sdy.data_flow_edge %0#1 sharding=<mesh<["a"=2]>, [{"a"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Operands that are unreduced stay so, by the same reduction.
// CHECK-LABEL: func.func @unreduced
func.func @unreduced(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: in_shardings=[<@mesh, [{"a", "c"}], unreduced=max{"b"}>]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", ?}], unreduced=max{"b"}>]
      out_shardings=[<@mesh, [{"a", ?}], unreduced=max{"b"}>] manual_axes={"a"} (%arg1: tensor<4xf32>) {
    %1 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"c"}], unreduced=max{"b"}> : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
