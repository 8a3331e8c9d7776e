// RUN: sdy-opt %s -sdy-convert-global-to-local -sdy-drop-sharding-and-mesh | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @product
func.func @product(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                   %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  // CHECK-NEXT: [[PARTIAL:%.+]] = stablehlo.dot %arg0, %arg1
  // CHECK-NEXT: [[WHOLE:%.+]] = "stablehlo.all_reduce"([[PARTIAL]])
  // CHECK-SAME: axes = [#stablehlo.axis_ref<name = "x">]
  // CHECK: stablehlo.add
  // CHECK: return [[WHOLE]]
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @maximum
func.func @maximum(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK: [[PARTIAL:%.+]] = stablehlo.reduce
  // CHECK-NEXT: "stablehlo.all_reduce"([[PARTIAL]])
  // CHECK: stablehlo.maximum
  // CHECK: (tensor<2xf32>) -> tensor<2xf32>
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @completed
func.func @completed(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                     %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  // CHECK: stablehlo.dot
  // CHECK-NEXT: "stablehlo.all_reduce"
  // CHECK-NOT: "stablehlo.all_reduce"
  // CHECK: return
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @scattered
func.func @scattered(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                     %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-NOT: "stablehlo.all_reduce"
  // CHECK: "stablehlo.reduce_scatter"
  // CHECK: return
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = sdy.reduce_scatter [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @declared_unreduced
func.func @declared_unreduced(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                              %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  // CHECK-NEXT: [[PARTIAL:%.+]] = stablehlo.dot
  // CHECK-NEXT: return [[PARTIAL]]
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// The collective completes what it uses; the other user gets an all-reduce.
// CHECK-LABEL: func.func @completed_for_one_user
func.func @completed_for_one_user(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                                  %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: [[PARTIAL:%.+]] = stablehlo.dot
  // CHECK-NEXT: [[FIRST:%.+]] = "stablehlo.all_reduce"([[PARTIAL]])
  // CHECK: [[SECOND:%.+]] = "stablehlo.all_reduce"([[PARTIAL]])
  // CHECK: return [[FIRST]], [[SECOND]]
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Along "y" nothing is reduced behind the product.
// CHECK-LABEL: func.func @completed_along_one_axis
func.func @completed_along_one_axis(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>},
                                    %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<4x4xf32> {
  // CHECK-NEXT: [[PARTIAL:%.+]] = stablehlo.dot
  // CHECK-NEXT: [[REST:%.+]] = "stablehlo.all_reduce"([[PARTIAL]])
  // CHECK-SAME: axes = [#stablehlo.axis_ref<name = "y">]
  // CHECK: "stablehlo.all_reduce"([[REST]])
  // CHECK-SAME: axes = [#stablehlo.axis_ref<name = "x">]
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Each device reduces a part of all results, which has fewer dimensions than the sharding.
// CHECK-LABEL: func.func @by_parts
func.func @by_parts(%arg0: tensor<12x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}, {}]>}) -> tensor<12x8xi32> {
  // CHECK: stablehlo.all_to_all
  // CHECK: across dimensions = [0] : (tensor<4x24xf32>, tensor<4x24xi32>
  %0 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x", "y"}, {}]>]>} : tensor<12x8x8xi32>
  %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3:2 = stablehlo.reduce(%arg0 init: %1), (%0 init: %2) across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>]>} : (tensor<12x8x8xf32>, tensor<12x8x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<12x8xf32>, tensor<12x8xi32>)
   reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>) {
    %4 = stablehlo.compare GT, %arg1, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
    %6 = stablehlo.select %4, %arg2, %arg4 : tensor<i1>, tensor<i32>
    stablehlo.return %5, %6 : tensor<f32>, tensor<i32>
  }
  return %3#1 : tensor<12x8xi32>
}
