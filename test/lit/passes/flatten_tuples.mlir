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
  // CHECK-NEXT: %0:3 = stablehlo.custom_call @f(%arg1, %arg0, %arg1) {backend_config = "x"}
  // CHECK-SAME: : (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>)
  // CHECK-SAME: -> (tensor<8xf32>, tensor<2xf32>, tensor<1xf32>)
  // CHECK-NEXT: return %0#1
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

// What the function takes is left.
// CHECK-LABEL: func.func @argument
func.func @argument(%t: tuple<tensor<8xf32>, tensor<4xf32>>)
    -> (tensor<4xf32>, tuple<tensor<4xf32>>) {
  // CHECK-NEXT: %0 = stablehlo.get_tuple_element %arg0[1]
  // CHECK-NEXT: %1 = stablehlo.tuple %0
  // CHECK-NEXT: return %0, %1
  %0 = stablehlo.get_tuple_element %t[1]
    : (tuple<tensor<8xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %1 = stablehlo.tuple %0 : tuple<tensor<4xf32>>
  return %0, %1 : tensor<4xf32>, tuple<tensor<4xf32>>
}
