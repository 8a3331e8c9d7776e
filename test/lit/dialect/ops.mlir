// Every operation in its custom syntax, which survives the generic form.

// RUN: sdy-opt %s | sdy-opt | FileCheck %s
// RUN: sdy-opt %s --mlir-print-op-generic | sdy-opt | FileCheck %s
// RUN: sdy-opt %s --mlir-print-debuginfo | sdy-opt | FileCheck %s
// RUN: sdy-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK: sdy.mesh @mesh = <["x"=8, "y"=2, "z"=2]>
// GENERIC: "sdy.mesh"() <{mesh = #sdy.mesh<["x"=8, "y"=2, "z"=2]>, sym_name = "mesh"}> : () -> ()
sdy.mesh @mesh = <["x"=8, "y"=2, "z"=2]>
// CHECK: sdy.mesh @reversed = <["x"=2], device_ids=[1, 0]> {note = "backwards"}
sdy.mesh @reversed = <["x"=2], device_ids=[1, 0]> {note = "backwards"}
// CHECK: sdy.mesh @one = <[], device_ids=[5]>
sdy.mesh @one = #sdy.mesh<[], device_ids=[5]>
// CHECK: sdy.mesh @"quoted \22name\22" = <[]>
sdy.mesh @"quoted \"name\"" = <[]>

// CHECK-LABEL: func.func @constraints
func.func @constraints(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {?}p1], replicated={"y"}> : tensor<8x8xf32>
  // GENERIC: %{{.*}} = "sdy.sharding_constraint"(%{{.*}}) <{sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}p1], replicated={"y"}>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = sdy.sharding_constraint %a <@mesh, [{"x", ?}, {?}p1], replicated={"y"}> : tensor<8x8xf32>
  // CHECK: %[[RESHARD:.*]] = sdy.reshard %[[CONSTRAINT]] <@mesh, [{}, {"x":(2)4}]> {tag} : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x":(2)4}]> {tag} : tensor<8x8xf32>
  // CHECK: %[[RESHARD_1:.*]] = sdy.reshard %[[RESHARD]] <mesh<["a"=4]>, [{"a"}, {}]> : tensor<8x8xf32>
  %2 = sdy.reshard %1 <mesh<["a"=4]>, [{"a"}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @tokens
func.func @tokens(%a: !stablehlo.token) -> !stablehlo.token {
  // CHECK: sdy.sharding_constraint %arg0 <@one, []> : !stablehlo.token
  %0 = sdy.sharding_constraint %a <@one, []> : !stablehlo.token
  return %0 : !stablehlo.token
}

// CHECK-LABEL: func.func @marks
func.func @marks(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: sdy.sharding_group %arg0 group_id=21 : tensor<8xf32>
  // GENERIC: "sdy.sharding_group"(%{{.*}}) <{group_id = 21 : i64}> : (tensor<8xf32>) -> ()
  sdy.sharding_group %a group_id=21 : tensor<8xf32>
  // CHECK: sdy.sharding_group %arg0 group_id=-1 {tag = 2 : i32} : tensor<8xf32>
  sdy.sharding_group %a group_id = -1 {tag = 2 : i32} : tensor<8xf32>
  // CHECK: sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<8xf32>
  // GENERIC: "sdy.propagation_barrier"(%{{.*}}) <{allowed_direction = 0 : i32}> : (tensor<8xf32>) -> tensor<8xf32>
  %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8xf32>
  // CHECK: sdy.propagation_barrier %[[VALUE:[0-9]+]] allowed_direction=FORWARD : tensor<8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction="FORWARD" : tensor<8xf32>
  // CHECK: sdy.propagation_barrier %[[VALUE_1:[0-9]+]] allowed_direction=BACKWARD {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %owner = stablehlo.negate %2 : tensor<8xf32>
  // CHECK: sdy.data_flow_edge %{{[0-9]+}} : tensor<8xf32>
  %3 = sdy.data_flow_edge %owner : tensor<8xf32>
  %other = stablehlo.negate %3 : tensor<8xf32>
  // CHECK: sdy.data_flow_edge %{{[0-9]+}} sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  // GENERIC: "sdy.data_flow_edge"(%{{.*}}) <{sharding = #sdy.sharding<@mesh, [{"x"}]>}> : (tensor<8xf32>) -> tensor<8xf32>
  %4 = sdy.data_flow_edge %other sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK: sdy.func_data_flow_edge %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>} : tensor<8xf32>
  %5 = sdy.func_data_flow_edge %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>} : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: sdy.constant dense<[3, 4]> : tensor<2xi32>
  // GENERIC: "sdy.constant"() <{value = dense<[3, 4]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %0 = sdy.constant dense<[3, 4]> : tensor<2xi32>
  // CHECK: sdy.constant {tag} dense<1.000000e+00> : tensor<2x2xf32>
  %1 = sdy.constant {tag} dense<1.0> : tensor<2x2xf32>
  // CHECK: sdy.constant dense<7> : tensor<i8>
  %2 = sdy.constant() <{value = dense<7> : tensor<i8>}> : () -> tensor<i8>
  // CHECK: sdy.constant dense_resource<weights> : tensor<1xi32>
  %3 = sdy.constant dense_resource<weights> : tensor<1xi32>
  return
}

// CHECK-LABEL: func.func @collectives
func.func @collectives(%a: tensor<16x8xf32>) {
  // CHECK: %[[ALL_SLICE:.*]] = sdy.all_slice [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<16x8xf32>
  // GENERIC: "sdy.all_slice"(%{{.*}}) <{out_sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>, slicing_axes = #sdy<list_of_axis_ref_lists[{"x"}, {"y"}]>}> : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %0 = sdy.all_slice [{"x"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<16x8xf32>
  // CHECK: %[[ALL_GATHER:.*]] = sdy.all_gather [{"x":(2)4}, {}] %[[ALL_SLICE]] out_sharding=<@mesh, [{"x":(1)2}, {"y"}]> : tensor<16x8xf32>
  %1 = sdy.all_gather [{"x":(2)4}, {}] %0 out_sharding=<@mesh, [{"x":(1)2}, {"y"}]> : tensor<16x8xf32>
  // CHECK: %[[ALL_TO_ALL:.*]] = sdy.all_to_all [{"y"}: 1->0] %[[ALL_GATHER]] out_sharding=<@mesh, [{"x":(1)2, "y"}, {}]> : tensor<16x8xf32>
  %2 = sdy.all_to_all [{"y"}:1->0] %1 out_sharding=<@mesh, [{"x":(1)2, "y"}, {}]> : tensor<16x8xf32>
  // CHECK: %[[PERMUTE:.*]] = sdy.collective_permute %[[ALL_TO_ALL]] out_sharding=<@mesh, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  // CHECK: %[[ALL_REDUCE:.*]] = sdy.all_reduce {"y"} %[[PERMUTE]] out_sharding=<@mesh, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  %4 = sdy.all_reduce {"y"} %3 out_sharding=<@mesh, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  // CHECK: %[[ALL_REDUCE_1:.*]] = sdy.all_reduce max {"x":(1)2, "y"} %[[ALL_REDUCE]] out_sharding=<@mesh, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  // GENERIC: "sdy.all_reduce"(%{{.*}}) <{out_sharding = #sdy.sharding<@mesh, [{"z", "x":(2)2}, {}]>, reduction_axes = #sdy<axis_ref_list{"x":(1)2, "y"}>, reduction_op = 1 : i32}> : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %5 = sdy.all_reduce max {"x":(1)2, "y"} %4 out_sharding=<@mesh, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  // CHECK: %[[ALL_REDUCE_2:.*]] = sdy.all_reduce {} %[[ALL_REDUCE_1]] out_sharding=<@mesh, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  %6 = sdy.all_reduce sum {} %5 out_sharding=<@mesh, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  // CHECK: %[[REDUCE_SCATTER:.*]] = sdy.reduce_scatter [{}, {"y"}] %[[ALL_REDUCE_2]] out_sharding=<@mesh, [{"z", "x":(2)2}, {"y"}]> : tensor<16x8xf32>
  %7 = sdy.reduce_scatter [{}, {"y"}] %6 out_sharding=<@mesh, [{"z", "x":(2)2}, {"y"}]> : tensor<16x8xf32>
  // CHECK: %[[REDUCE_SCATTER_1:.*]] = sdy.reduce_scatter min [{"x":(1)2}, {}] %[[REDUCE_SCATTER]] out_sharding=<@mesh, [{"z", "x":(2)2, "x":(1)2}, {"y"}]> {tag} : tensor<16x8xf32>
  %8 = sdy.reduce_scatter min [{"x":(1)2}, {}] %7 out_sharding=<@mesh, [{"z", "x":(2)2, "x":(1)2}, {"y"}]> {tag} : tensor<16x8xf32>
  // CHECK: %[[SHARDED_TO_UNREDUCED:.*]] = sdy.sharded_to_unreduced [{}, {"y"}] %[[REDUCE_SCATTER_1]] out_sharding=<@mesh, [{"z", "x":(2)2, "x":(1)2}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %9 = sdy.sharded_to_unreduced [{}, {"y"}] %8 out_sharding=<@mesh, [{"z", "x":(2)2, "x":(1)2}, {}], unreduced={"y"}> : tensor<16x8xf32>
  // CHECK: %[[REPLICATED_TO_UNREDUCED:.*]] = sdy.replicated_to_unreduced {"x":(4)2} %[[SHARDED_TO_UNREDUCED]] out_sharding=<@mesh, [{"z", "x":(2)2, "x":(1)2}, {}], unreduced={"x":(4)2, "y"}> : tensor<16x8xf32>
  %10 = sdy.replicated_to_unreduced {"x":(4)2} %9 out_sharding=<@mesh, [{"z", "x":(2)2, "x":(1)2}, {}], unreduced={"x":(4)2, "y"}> : tensor<16x8xf32>
  return
}

// CHECK-LABEL: func.func @manual
func.func @manual(%a: tensor<16x8xf32>, %b: tensor<4xf32>) -> tensor<16x8xf32> {
  // CHECK: %[[MANUAL:.*]] = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x", "y", ?}, {?}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%arg2: tensor<2x8xf32>, %arg3: tensor<4xf32>) {
  // CHECK-NEXT:   %[[NEGATE:.*]] = stablehlo.negate %arg2 : tensor<2x8xf32>
  // CHECK-NEXT:   %[[MANUAL_1:.*]] = sdy.manual_computation(%[[NEGATE]]) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"y"} (%arg4: tensor<1x8xf32>) {
  // CHECK-NEXT:     sdy.return %arg4 : tensor<1x8xf32>
  // CHECK-NEXT:   } : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT:   sdy.return {last} %[[MANUAL_1]] : tensor<2x8xf32>
  // CHECK-NEXT: } {tag = {nested = [1, 2]}} : (tensor<16x8xf32>, tensor<4xf32>) -> tensor<16x8xf32>
  // GENERIC: %{{.*}} = "sdy.manual_computation"(%{{.*}}, %{{.*}}) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x", "y", ?}, {?}]>, <@mesh, [{}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}> ({
  // GENERIC-NEXT: ^bb0(%{{.*}}: tensor<2x8xf32>, %{{.*}}: tensor<4xf32>):
  %0 = sdy.manual_computation(%a, %b)
      in_shardings=[<@mesh, [{"x", "y", ?}, {?}]>, <@mesh, [{}]>] // one for each operand
      out_shardings=[<@mesh, [{"x"}, {"y"}]>]
      manual_axes={"x"}
      (%c: tensor<2x8xf32> {lost}, %d: tensor<4xf32>) {
    %1 = stablehlo.negate %c : tensor<2x8xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"y"} (%e: tensor<1x8xf32>) {
      sdy.return %e : tensor<1x8xf32>
    } : (tensor<2x8xf32>) -> tensor<2x8xf32>
    sdy.return {last} %2 : tensor<2x8xf32>
  } {tag = {nested = [1, 2]}} : (tensor<16x8xf32>, tensor<4xf32>) -> tensor<16x8xf32>
  // CHECK: sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  // CHECK-NEXT:   sdy.return
  // CHECK-NEXT: } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () { sdy.return } : () -> ()
  return %0 : tensor<16x8xf32>
}

// The names of values inside are the region's own: nothing from outside can be used there.
// CHECK-LABEL: func.func @same_names
func.func @same_names(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[MANUAL:.*]]:2 = sdy.manual_computation(%arg0, %arg0)
  %0:2 = sdy.manual_computation(%a, %a) in_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] manual_axes={} (%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
    // CHECK: sdy.return %arg2, %arg1 : tensor<4xf32>, tensor<4xf32>
    sdy.return %arg1, %arg0 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @named
func.func @named(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[COMPUTATION:.*]] = sdy.named_computation<"f">(%arg0) (%arg1: tensor<4xf32>) {
  // CHECK-NEXT:   sdy.return %arg1 : tensor<4xf32>
  // CHECK-NEXT: } : (tensor<4xf32>) -> tensor<4xf32>
  %0 = sdy.named_computation<"f">(%a) (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: sdy.named_computation<"a \22b\22\0Ac">(%[[COMPUTATION]]) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{?}]>] (%arg1: tensor<4xf32>) {
  %1 = sdy.named_computation<"a \22b\22\nc">(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{?}]>] (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: sdy.named_computation<"g">(%[[VALUE:[0-9]+]]) out_shardings=[<@mesh, [{?}]>] (%arg1: tensor<4xf32>) {
  %2 = sdy.named_computation<"g">(%1) out_shardings=[<@mesh, [{?}]>] (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Operations of other dialects, with and without regions, stay as they are.
// CHECK-LABEL: func.func @others
func.func @others(%a: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.custom_call @sdy.reshard(%arg0) {backend_config = "sdy.reshard %[[VALUE:[0-9]+]] <@nowhere>"} : (tensor<4xf32>) -> tensor<f32>
  %1 = stablehlo.custom_call @sdy.reshard(%a) {backend_config = "sdy.reshard %0 <@nowhere>"} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x0400000001000000"
    }
  }
#-}
