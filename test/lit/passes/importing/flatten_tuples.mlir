// RUN: sdy-opt %s -sdy-flatten-tuples | FileCheck %s

// CHECK-LABEL: func.func @taken_from_where_it_is_put
// CHECK-SAME: (%arg0: tensor<8xf32>, %arg1: tensor<4xf32>)
func.func @taken_from_where_it_is_put(%a: tensor<8xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<8xf32>) {
  // CHECK-NEXT: return %arg1, %arg0
  %0 = stablehlo.tuple %b : tuple<tensor<4xf32>>
  %1 = stablehlo.tuple %a, %0 : tuple<tensor<8xf32>, tuple<tensor<4xf32>>>
  %2 = stablehlo.get_tuple_element %1[1]
    : (tuple<tensor<8xf32>, tuple<tensor<4xf32>>>) -> tuple<tensor<4xf32>>
  %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %4 = stablehlo.get_tuple_element %1[0]
    : (tuple<tensor<8xf32>, tuple<tensor<4xf32>>>) -> tensor<8xf32>
  return %3, %4 : tensor<4xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @custom_call
func.func @custom_call(%a: tensor<8xf32>, %b: tensor<4xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[CUSTOM_CALL:.*]]:3 = stablehlo.custom_call @f(%arg1, %arg0, %arg1) {backend_config = "x"}
  // CHECK-SAME: : (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>)
  // CHECK-SAME: -> (tensor<8xf32>, tensor<2xf32>, tensor<1xf32>)
  // CHECK-NEXT: return %[[CUSTOM_CALL]]#1
  %0 = stablehlo.tuple %a, %b : tuple<tensor<8xf32>, tensor<4xf32>>
  %1 = stablehlo.custom_call @f(%b, %0) {backend_config = "x"}
    : (tensor<4xf32>, tuple<tensor<8xf32>, tensor<4xf32>>)
    -> tuple<tensor<8xf32>, tuple<tensor<2xf32>, tensor<1xf32>>>
  %2 = stablehlo.get_tuple_element %1[1]
    : (tuple<tensor<8xf32>, tuple<tensor<2xf32>, tensor<1xf32>>>)
    -> tuple<tensor<2xf32>, tensor<1xf32>>
  %3 = stablehlo.get_tuple_element %2[0]
    : (tuple<tensor<2xf32>, tensor<1xf32>>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

// CHECK-LABEL: func.func @aliases
func.func @aliases(%a: tensor<2xf32>, %t: tuple<tensor<8xf32>, tuple<tensor<4xf32>, tensor<i1>>>)
    -> (tensor<4xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[CUSTOM_CALL:.*]]:3 = stablehlo.custom_call @f(%arg0, %arg1, %arg2, %arg3)
  // CHECK-SAME: output_tuple_indices = [0], operand_index = 2, operand_tuple_indices = []
  // CHECK-SAME: output_tuple_indices = [2], operand_index = 1, operand_tuple_indices = []
  // CHECK-NEXT: return %[[CUSTOM_CALL]]#0, %[[CUSTOM_CALL]]#2
  %0 = stablehlo.custom_call @f(%a, %t) {output_operand_aliases = [
      #stablehlo.output_operand_alias<output_tuple_indices = [0, 0], operand_index = 1,
                                      operand_tuple_indices = [1, 0]>,
      #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1,
                                      operand_tuple_indices = [0]>]}
    : (tensor<2xf32>, tuple<tensor<8xf32>, tuple<tensor<4xf32>, tensor<i1>>>)
    -> tuple<tuple<tensor<4xf32>, tensor<1xf32>>, tensor<8xf32>>
  %1 = stablehlo.get_tuple_element %0[0]
    : (tuple<tuple<tensor<4xf32>, tensor<1xf32>>, tensor<8xf32>>)
    -> tuple<tensor<4xf32>, tensor<1xf32>>
  %2 = stablehlo.get_tuple_element %1[0]
    : (tuple<tensor<4xf32>, tensor<1xf32>>) -> tensor<4xf32>
  %3 = stablehlo.get_tuple_element %0[1]
    : (tuple<tuple<tensor<4xf32>, tensor<1xf32>>, tensor<8xf32>>) -> tensor<8xf32>
  return %2, %3 : tensor<4xf32>, tensor<8xf32>
}

// A whole tuple is an alias part by part.
// CHECK-LABEL: func.func @alias_of_tuple
func.func @alias_of_tuple(%t: tuple<tuple<tensor<4xf32>, tensor<i1>>>)
    -> tuple<tuple<tensor<4xf32>, tensor<i1>>> {
  // CHECK: output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []
  // CHECK-SAME: output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []
  %0 = stablehlo.custom_call @f(%t) {output_operand_aliases = [
      #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0,
                                      operand_tuple_indices = [0]>]}
    : (tuple<tuple<tensor<4xf32>, tensor<i1>>>) -> tuple<tuple<tensor<4xf32>, tensor<i1>>>
  return %0 : tuple<tuple<tensor<4xf32>, tensor<i1>>>
}

// CHECK-LABEL: func.func @interface
// CHECK-SAME: (%arg0: tensor<8xf32> {jax.buffer_donor = true, mhlo.sharding = "{devices=[2]<=[2]}"},
// CHECK-SAME:  %arg1: tensor<4xf32> {jax.buffer_donor = true, mhlo.sharding = "{replicated}"},
// CHECK-SAME:  %arg2: tensor<2xf32> {tf.aliasing_output = 2 : i32})
// CHECK-SAME: -> (tensor<4xf32> {jax.result_info = "out[0][0]"},
// CHECK-SAME:     tensor<8xf32> {jax.result_info = "out[0][1]"}, tensor<2xf32>)
func.func @interface(
    %t: tuple<tensor<8xf32>, tuple<tensor<4xf32>>>
      {jax.buffer_donor = true, mhlo.sharding = "{{devices=[2]<=[2]}, {replicated}}"},
    %a: tensor<2xf32> {tf.aliasing_output = 1 : i32})
    -> (tuple<tuple<tensor<4xf32>, tensor<8xf32>>, tuple<>> {jax.result_info = "out"},
        tensor<2xf32>) {
  // CHECK-NEXT: %[[CALL:.*]]:2 = call @swap(%arg0, %arg1)
  // CHECK-NEXT: %[[COMPOSITE:.*]]:2 = stablehlo.composite "my.swap" %[[CALL]]#1, %[[CALL]]#0 {decomposition = @swap}
  // CHECK-NEXT: return %[[COMPOSITE]]#0, %[[COMPOSITE]]#1, %arg2
  %0 = call @swap(%t) : (tuple<tensor<8xf32>, tuple<tensor<4xf32>>>)
    -> tuple<tensor<4xf32>, tensor<8xf32>>
  %1 = stablehlo.get_tuple_element %0[0]
    : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<4xf32>
  %2 = stablehlo.get_tuple_element %0[1]
    : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<8xf32>
  %3 = stablehlo.tuple %1 : tuple<tensor<4xf32>>
  %4 = stablehlo.tuple %2, %3 : tuple<tensor<8xf32>, tuple<tensor<4xf32>>>
  %5 = stablehlo.composite "my.swap" %4 {decomposition = @swap}
    : (tuple<tensor<8xf32>, tuple<tensor<4xf32>>>) -> tuple<tensor<4xf32>, tensor<8xf32>>
  %6 = stablehlo.tuple : tuple<>
  %7 = stablehlo.tuple %5, %6 : tuple<tuple<tensor<4xf32>, tensor<8xf32>>, tuple<>>
  return %7, %a : tuple<tuple<tensor<4xf32>, tensor<8xf32>>, tuple<>>, tensor<2xf32>
}

// CHECK-LABEL: func.func private @swap
// CHECK-SAME: (%arg0: tensor<8xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>)
func.func private @swap(%t: tuple<tensor<8xf32>, tuple<tensor<4xf32>>>)
    -> tuple<tensor<4xf32>, tensor<8xf32>> {
  // CHECK-NEXT: return %arg1, %arg0
  %0 = stablehlo.get_tuple_element %t[0]
    : (tuple<tensor<8xf32>, tuple<tensor<4xf32>>>) -> tensor<8xf32>
  %1 = stablehlo.get_tuple_element %t[1]
    : (tuple<tensor<8xf32>, tuple<tensor<4xf32>>>) -> tuple<tensor<4xf32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %3 = stablehlo.tuple %2, %0 : tuple<tensor<4xf32>, tensor<8xf32>>
  return %3 : tuple<tensor<4xf32>, tensor<8xf32>>
}

// CHECK: func.func private @declared(tensor<8xf32>, tensor<4xf32>) -> tensor<i1>
func.func private @declared(tuple<tensor<8xf32>, tensor<4xf32>>) -> tuple<tensor<i1>>
