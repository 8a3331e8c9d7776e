// RUN: sdy-explain %s --advise | FileCheck %s
// CHECK: constrain result 0 of stablehlo.gather at {{.*}}advise.mlir:9:8 to <@mesh, [{"data", ?}, {?}]>: 37,056 -> 15,360 bytes sent

sdy.mesh @mesh = <["data"=4]>
func.func @main(
    %table: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
    %ids: tensor<64x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<64x64xf32> {
  %x = "stablehlo.gather"(%table, %ids) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
        start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 64>}> : (tensor<16x64xf32>, tensor<64x1xi32>) -> tensor<64x64xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.add %x, %0 : tensor<64x64xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
