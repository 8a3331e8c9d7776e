// RUN: sdy-opt %s -sdy-basic-propagate='conservative-propagation=true' | FileCheck %s
// RUN: sdy-opt %s -sdy-basic-propagate | FileCheck %s --check-prefix=BOLD

sdy.mesh @mesh = <["a"=4, "b"=2]>

// CHECK-LABEL: func.func @main
func.func @main(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "a":(1)2}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) -> (tensor<8xf32>, tensor<4xf32>) {
  // Only what comes before a part of an axis.
  // CHECK: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b", ?}]>]>}
  // BOLD: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b", "a":(1)2, ?}]>]>}
  %0 = stablehlo.tanh %arg0 : tensor<8xf32>
  // And nothing along a dimension that a slice cuts.
  // CHECK: stablehlo.slice %arg1 [0:4] : (tensor<8xf32>)
  // BOLD: stablehlo.slice %arg1 [0:4] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b", ?}]>]>}
  %1 = stablehlo.slice %arg1 [0:4] : (tensor<8xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}
