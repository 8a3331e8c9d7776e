// RUN: sdy-explain %s --advise | FileCheck %s
// RUN: not sdy-explain %s --check="at most 20kB" 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: sed 's/^    %w\(.*\) {/    %w\1 attributes {sdy.contract = {max_bytes = 20000}} {/' %s > %t.mlir; not sdy-explain %t.mlir 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not sdy-run %t.mlir 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not sdy-opt %t.mlir --sdy-propagation-pipeline --sdy-partition-pipeline 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: error: the contract 'at most 20,000 bytes' is violated: found {{.*}}, 37,056 bytes sent
// KEPT: :15:8: note: this was tried, and sends less, and keeps the contract: constrain result 0 of stablehlo.gather {{.*}} 37,056 -> 15,360 bytes sent
// CHECK: constrain result 0 of stablehlo.gather at {{.*}}advise.mlir:15:8 to <@mesh, [{"data", ?}, {?}]>: 37,056 -> 15,360 bytes sent

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
