// RUN: sdy-opt %s --sdy-reassociate-reductions | FileCheck %s

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
