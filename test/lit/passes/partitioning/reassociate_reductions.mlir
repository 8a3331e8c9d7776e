// RUN: sdy-opt %s --sdy-reassociate-reductions | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(sdy-reassociate-reductions{max-bytes=127}))" | FileCheck %s --check-prefix=SMALL

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: @sum
// CHECK: %[[A:.*]] = stablehlo.dot_general %arg0, %arg1
// CHECK-SAME: [<@mesh, [{}, {}], unreduced={"x"}>]
// CHECK: %[[B:.*]] = stablehlo.dot_general %arg1, %arg0
// CHECK-SAME: [<@mesh, [{}, {}], unreduced={"x"}>]
// CHECK: %[[N:.*]] = stablehlo.negate %[[B]]
// CHECK-SAME: [<@mesh, [{}, {}], unreduced={"x"}>]
// CHECK: %[[S:.*]] = stablehlo.add %[[A]], %[[N]]
// CHECK-SAME: [<@mesh, [{}, {}], unreduced={"x"}>]
// CHECK: %[[R:.*]] = sdy.all_reduce {"x"} %[[S]] out_sharding=<@mesh, [{}, {}]>
// CHECK: return %[[R]]
func.func @sum(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
               %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.dot_general %b, %a, contracting_dims = [0] x [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %4 = stablehlo.negate %3
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  %5 = stablehlo.add %1, %4
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// What isn't linear stays behind the all-reduce, and so does what is needed elsewhere, too.
// CHECK-LABEL: @not_linear
// CHECK: sdy.all_reduce
// CHECK-NEXT: stablehlo.exponential
// CHECK: sdy.all_reduce
// CHECK-NEXT: stablehlo.add
func.func @not_linear(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>},
                      %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>})
    -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.exponential %0
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  %2 = sdy.all_reduce {"x"} %b out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %3 = stablehlo.add %1, %2
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %3, %2 : tensor<8xf32>, tensor<8xf32>
}

// Sums along different axes are different sums.
// CHECK-LABEL: @other_axes
// CHECK: sdy.all_reduce {"x"}
// CHECK: sdy.all_reduce {"y"}
// CHECK: stablehlo.add
func.func @other_axes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>},
                      %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>})
    -> tensor<8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_reduce {"y"} %b out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = stablehlo.add %0, %1
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A loop adds up partial results from zero, and its first value is added afterwards.
// CHECK-LABEL: @loop
// CHECK: %[[Z:.*]] = stablehlo.constant {sdy.sharding = {{.*}}unreduced={"x"}{{.*}}} dense<0.0
// CHECK: %[[L:.*]]:2 = stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %[[Z]])
// CHECK: do {
// CHECK-NEXT: stablehlo.add %{{.*}}, %arg0 {{.*}}unreduced={"x"}
// CHECK: %[[R:.*]] = sdy.all_reduce {"x"} %[[L]]#1
// CHECK: %[[T:.*]] = stablehlo.add %arg1, %[[R]]
// CHECK: return %[[T]]
func.func @loop(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>},
                %s: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %s) : tensor<i32>, tensor<8xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}]>]>} cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %2 = stablehlo.add %c, %1
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// A sum that is scattered in each iteration is scattered once, transposed, if that takes no more
// than so many bytes: 256 instead of 128.
// CHECK-LABEL: @scattered_loop
// CHECK: %[[L:.*]]:2 = stablehlo.while
// CHECK-SAME: [{}, {"y"}], unreduced={"x"}
// CHECK: do {
// CHECK-NOT: sdy.reduce_scatter
// CHECK: return
// CHECK: sdy.reduce_scatter [{"x"}, {}] %[[L]]#1 out_sharding=<@mesh, [{"x"}, {"y"}]>
// SMALL-LABEL: @scattered_loop
// SMALL: do {
// SMALL: sdy.reduce_scatter [{}, {"x"}]
func.func @scattered_loop(
    %a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>})
    -> tensor<16x16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %half = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
      dense<0.5> : tensor<16x16xf32>
  %s = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
      dense<0.0> : tensor<16x16xf32>
  %0:2 = stablehlo.while(%i = %zero, %c = %s) : tensor<i32>, tensor<16x16xf32> attributes {
      sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {"y"}]>]>} cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = sdy.reduce_scatter [{}, {"x"}] %a out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x16xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
        : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %3 = stablehlo.multiply %2, %half
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<16x16xf32>
    %4 = stablehlo.add %c, %3
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<16x16xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %4 : tensor<i32>, tensor<16x16xf32>
  }
  return %0#1 : tensor<16x16xf32>
}

// The second product takes the rows of the groups that a device has, and so does the first one.
// CHECK-LABEL: @experts
// CHECK: %[[P:.*]] = "chlo.ragged_dot"(%arg0, %arg1, %arg2)
// CHECK-SAME: unreduced={"x"}
// CHECK: %[[T:.*]] = stablehlo.tanh %[[P]]
// CHECK: %[[Q:.*]] = "chlo.ragged_dot"(%[[T]], %arg1, %arg2)
// CHECK: sdy.all_reduce {"x"} %[[Q]]
func.func @experts(%a: tensor<8x4xf32>,
                   %w: tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                   %g: tensor<2xi32>) -> tensor<8x4xf32> {
  %0 = "chlo.ragged_dot"(%a, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
    : (tensor<8x4xf32>, tensor<2x4x4xf32>, tensor<2xi32>) -> tensor<8x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  %2 = stablehlo.tanh %1 : tensor<8x4xf32>
  %3 = "chlo.ragged_dot"(%2, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
    : (tensor<8x4xf32>, tensor<2x4x4xf32>, tensor<2xi32>) -> tensor<8x4xf32>
  %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// Rows in another order are those of other groups.
// CHECK-LABEL: @all_rows
// CHECK: %[[P:.*]] = "chlo.ragged_dot"
// CHECK: sdy.all_reduce {"x"} %[[P]]
// CHECK: "chlo.ragged_dot"
func.func @all_rows(%a: tensor<8x4xf32>,
                    %w: tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                    %g: tensor<2xi32>) -> tensor<8x4xf32> {
  %0 = "chlo.ragged_dot"(%a, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
    : (tensor<8x4xf32>, tensor<2x4x4xf32>, tensor<2xi32>) -> tensor<8x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<8x4xf32>
  %3 = "chlo.ragged_dot"(%2, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
    : (tensor<8x4xf32>, tensor<2x4x4xf32>, tensor<2xi32>) -> tensor<8x4xf32>
  %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// The second product is smaller than the first.
// CHECK-LABEL: @smaller_product
// CHECK: %[[A:.*]] = stablehlo.dot_general %arg0, %arg1
// CHECK: %[[N:.*]] = stablehlo.negate %[[A]]
// CHECK: %[[B:.*]] = stablehlo.dot_general %[[N]], %arg2
// CHECK-SAME: [<@mesh, [{}, {}], unreduced={"x"}>]
// CHECK: %[[R:.*]] = sdy.all_reduce {"x"} %[[B]] out_sharding=<@mesh, [{}, {}]> : tensor<8x2xf32>
// CHECK: return %[[R]]
func.func @smaller_product(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
               %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
               %c: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  %3 = stablehlo.dot_general %2, %c, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %3 : tensor<8x2xf32>
}

// A reshape in between adds a dimension.
// CHECK-LABEL: @smaller_product_of_a_reshape
// CHECK: %[[B:.*]] = stablehlo.dot_general %{{.*}}, %arg2
// CHECK: sdy.all_reduce {"x"} %[[B]] out_sharding=<@mesh, [{}, {}, {}]> : tensor<4x2x2xf32>
func.func @smaller_product_of_a_reshape(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
               %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
               %c: tensor<8x2xf32>) -> tensor<4x2x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.reshape %1 : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<2x4x8xf32>) -> tensor<4x2x8xf32>
  %4 = stablehlo.dot_general %3, %c, contracting_dims = [2] x [0]
      : (tensor<4x2x8xf32>, tensor<8x2xf32>) -> tensor<4x2x2xf32>
  return %4 : tensor<4x2x2xf32>
}

// Each device multiplies with its own columns, and needs complete rows for that.
// CHECK-LABEL: @product_of_shards
// CHECK: sdy.all_reduce {"x"} %{{.*}} : tensor<8x8xf32>
// CHECK-NOT: sdy.all_reduce
// CHECK: return
func.func @product_of_shards(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
               %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
               %c: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.dot_general %1, %c, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
      : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %2 : tensor<8x2xf32>
}
