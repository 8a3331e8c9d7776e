// RUN: sdy-opt %s --sdy-unshard-uneven-regions | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: @dropped
// CHECK: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK: stablehlo.add %{{.*}}, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
func.func @dropped(%a: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %0 = stablehlo.negate %a
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<9x4xf32>
  %1 = stablehlo.add %0, %a
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<9x4xf32>
  return %1 : tensor<9x4xf32>
}

// What the user asks for stays.
// CHECK-LABEL: @constrained
// CHECK: stablehlo.negate %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
func.func @constrained(%a: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<9x4xf32>
  %1 = stablehlo.negate %0
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<9x4xf32>
  return %1 : tensor<9x4xf32>
}

// Even dimensions stay.
// CHECK-LABEL: @even
// CHECK: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
func.func @even(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %a
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
