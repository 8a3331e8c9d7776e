// RUN: sdy-opt %s -canonicalize | FileCheck %s
// Operations that nothing simplifies, even where they might seem to do nothing.

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2]>
sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @constraints
func.func @constraints(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[ONE:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"a"}]>
  // CHECK-NEXT: %[[TWO:.*]] = sdy.sharding_constraint %[[ONE]] <@mesh, [{"b"}]>
  // CHECK-NEXT: return %[[TWO]]
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}]> : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"b"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @a_reshard_to_the_same
func.func @a_reshard_to_the_same(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"a"}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.reshard %x <@mesh, [{"a"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @barriers_groups_and_edges
func.func @barriers_groups_and_edges(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[IN:.*]] = sdy.func_data_flow_edge %arg0
  // CHECK-NEXT: %[[BARRIER:.*]] = sdy.propagation_barrier %[[IN]] allowed_direction=NONE
  // CHECK-NEXT: sdy.sharding_group %[[BARRIER]] group_id=0
  // CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %[[BARRIER]]
  // CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %[[ABS]]
  // CHECK-NEXT: return %[[EDGE]]
  %0 = sdy.func_data_flow_edge %x : tensor<8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8xf32>
  %2 = stablehlo.abs %1 : tensor<8xf32>
  %3 = sdy.data_flow_edge %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK-LABEL: func.func @computations
func.func @computations(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[NAMED:.*]] = sdy.named_computation<"same">(%arg0, %arg1) (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
  // CHECK-NEXT:   sdy.return %arg2 : tensor<8xf32>
  // CHECK-NEXT: } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: return %[[NAMED]]
  %0 = sdy.named_computation<"same">(%x, %y) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    sdy.return %a : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @equal_constants
func.func @equal_constants() -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = sdy.constant dense<1.000000e+00>
  // CHECK-NEXT: %[[TWO:.*]] = sdy.constant dense<1.000000e+00>
  // CHECK-NEXT: return %[[ONE]], %[[TWO]]
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  %1 = sdy.constant dense<1.0> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
