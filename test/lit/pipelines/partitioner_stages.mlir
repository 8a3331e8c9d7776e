// RUN: sdy-opt %s "-sdy-insert-explicit-reshards=enable-full-version=true mark-partial-result-with-unreduced-axes=true" | FileCheck %s --check-prefix=MARKED
// RUN: sdy-opt %s "-sdy-export-pipeline=partitioner-stage=convert-global-to-local partition-count=2" | FileCheck %s --check-prefix=LOCAL
// RUN: sdy-opt %s "-sdy-export-pipeline=partitioner-stage=reshard-to-collectives partition-count=2" | FileCheck %s --check-prefix=STAGE
// RUN: not sdy-opt %s "-sdy-export-pipeline=partitioner-stage=reshard-to-collectives avoid-export-for-partitioning=true" 2>&1 | FileCheck %s --check-prefix=EXCLUDES
// RUN: sdy-opt %s "-sdy-resolve-permutation-factors=partition-count=2" -sdy-reshard-to-collectives -sdy-convert-global-to-local | FileCheck %s --check-prefix=SAFE
// RUN: sdy-opt %s "-sdy-resolve-permutation-factors=partition-count=2 rng-bit-generator-unsafe=true" -sdy-convert-global-to-local | FileCheck %s --check-prefix=UNSAFE

// LOCAL: module attributes {sdy.output_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{}, {}]>]>,
// LOCAL-SAME: sdy.parameters_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{}, {"x"}]>, <mesh<["x"=2]>, [{"x"}, {}]>]>}
// LOCAL-NOT: sdy.mesh
// EXCLUDES: error: pipeline 'sdy-export-pipeline': partitioner-stage=reshard-to-collectives cannot be combined with avoid-export-for-partitioning=true
sdy.mesh @mesh = <["x"=2]>

// MARKED-LABEL: func.func @main
// LOCAL-LABEL: func.func @main
// STAGE-LABEL: func.func @main
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  // MARKED-NEXT: stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
  // MARKED-NEXT: sdy.all_reduce {"x"}
  // LOCAL-NEXT: stablehlo.dot %arg0, %arg1 : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // LOCAL-NEXT: stablehlo.all_reduce
  // STAGE: stablehlo.dot {{.*}} unreduced={"x"}
  // STAGE-NEXT: sdy.all_reduce {"x"}
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// SAFE-LABEL: func.func private @random
// SAFE: stablehlo.rng_bit_generator {{.*}} -> (tensor<2xui64>, tensor<8x8xui32>)
// UNSAFE-LABEL: func.func private @random
// UNSAFE: stablehlo.constant dense<[0, 3801824426178300716]>
// UNSAFE: stablehlo.rng_bit_generator {{.*}} -> (tensor<2xui64>, tensor<4x8xui32>)
// UNSAFE: stablehlo.all_reduce
func.func private @random(%arg0: tensor<2xui64>) -> (tensor<8x8xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0, %1 = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x"}, {}]>]>}
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x8xui32>)
  return %1 : tensor<8x8xui32>
}
