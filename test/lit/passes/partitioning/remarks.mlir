// RUN: sdy-opt %s --remarks --verify-diagnostics --sdy-partition-pipeline
// RUN: sdy-opt %s --sdy-partition-pipeline 2>&1 | FileCheck %s

// Without --remarks.
// CHECK-NOT: remark

sdy.mesh @mesh = <["x"=4]>

func.func @main(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<1023x2xf32>, %state: tensor<2xui64>)
    -> (tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
        tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
        tensor<8xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<2046xf32>) {
  // Rows are as independent as columns, but 4 devices don't divide 6 of them.
  // expected-remark@+1 {{'stablehlo.sort' op needs operand 0 unsharded along dimension 1: to gather <@mesh, [{}, {"x"}]>, a device sends 144 bytes}}
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %less = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  // expected-remark@+1 {{'stablehlo.custom_call' op needs operand 0 unsharded along dimension 1: to gather <@mesh, [{}, {"x"}]>, a device sends 144 bytes}}
  %1 = stablehlo.custom_call @unknown(%a)
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
      : (tensor<6x8xf32>) -> tensor<6x8xf32>
  // expected-remark@+1 {{'stablehlo.rng_bit_generator' op computes result 1 unsharded along dimension 0}}
  %2:2 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x"}]>]>}
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  // Each device reshapes its shard: no remark.
  %3 = sdy.sharding_constraint %b <@mesh, [{"x"}, {}]> : tensor<1023x2xf32>
  %4 = stablehlo.reshape %3 : (tensor<1023x2xf32>) -> tensor<2046xf32>
  return %0, %1, %2#1, %4 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<8xui32>, tensor<2046xf32>
}
