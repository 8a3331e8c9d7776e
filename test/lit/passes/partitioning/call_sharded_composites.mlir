// RUN: sdy-opt %s -sdy-call-sharded-composites | FileCheck %s
// RUN: sdy-opt %s -sdy-partition-pipeline | FileCheck %s --check-prefix=LOCAL

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK-NEXT: %[[COMPOSITE:.*]] = stablehlo.composite "my.whole" %arg0
  // CHECK-NEXT: %[[CALL:.*]] = call @sharded_inside(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
  // CHECK-NEXT: %[[CALL_1:.*]] = call @sharded_argument(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // LOCAL: stablehlo.composite "my.whole"
  // LOCAL-NOT: composite
  %0 = stablehlo.composite "my.whole" %arg0 {decomposition = @whole}
      : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.composite "my.sharded" %arg0 {decomposition = @sharded_inside,
      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
      : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.composite "my.other" %arg0 {decomposition = @sharded_argument}
      : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0, %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

func.func private @whole(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.reverse %arg0, dims = [0] : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

func.func private @sharded_inside(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.reverse %arg0, dims = [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

func.func private @sharded_argument(
    %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.reverse %arg0, dims = [0] : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
