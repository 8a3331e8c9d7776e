// RUN: sdy-opt %s -sdy-optimize-collectives | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=3]>

// "y" leaves its own dimension, and "x" takes its place.
// CHECK-LABEL: func.func @major_axis
func.func @major_axis(%arg0: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}]>}) -> tensor<24x24xf32> {
  // CHECK-NEXT: [[SPLIT:%.+]] = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}, {"x"}, {}]>]>} : (tensor<24x24xf32>) -> tensor<24x4x2x3xf32>
  // CHECK-NEXT: [[OUT:%.+]] = sdy.all_to_all [{"y"}: 1->0] [[SPLIT]] out_sharding=<@mesh, [{"y"}, {}, {"x"}, {}]>
  // CHECK-NEXT: [[UP:%.+]] = sdy.all_to_all [{"x"}: 2->1] [[OUT]] out_sharding=<@mesh, [{"y"}, {"x"}, {}, {}]>
  // CHECK-NEXT: [[MERGED:%.+]] = stablehlo.reshape [[UP]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<24x4x2x3xf32>) -> tensor<24x24xf32>
  // CHECK-NEXT: return [[MERGED]]
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{}, {"x", "y"}]> : tensor<24x24xf32>
  %1 = sdy.all_to_all [{"y"}: 1->0] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<24x24xf32>
  return %1 : tensor<24x24xf32>
}

// The place of "x" is too small for "y".
// CHECK-LABEL: func.func @place_of_another_size
func.func @place_of_another_size(%arg0: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}) -> tensor<24x24xf32> {
  // CHECK-NEXT: sdy.collective_permute
  // CHECK-NEXT: sdy.all_to_all
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{}, {"y", "x"}]> : tensor<24x24xf32>
  %1 = sdy.all_to_all [{"x"}: 1->0] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<24x24xf32>
  return %1 : tensor<24x24xf32>
}

// Eight shards don't divide a dimension of 12.
// CHECK-LABEL: func.func @not_divisible
func.func @not_divisible(%arg0: tensor<24x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}]>}) -> tensor<24x12xf32> {
  // CHECK-NEXT: sdy.collective_permute
  // CHECK-NEXT: sdy.all_to_all
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{}, {"x", "y"}]> : tensor<24x12xf32>
  %1 = sdy.all_to_all [{"y"}: 1->0] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<24x12xf32>
  return %1 : tensor<24x12xf32>
}

// Something else uses what is permuted.
// CHECK-LABEL: func.func @used_in_between
func.func @used_in_between(%arg0: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}]>}) -> (tensor<24x24xf32>, tensor<24x24xf32>) {
  // CHECK-NEXT: sdy.collective_permute
  // CHECK-NEXT: sdy.all_to_all
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{}, {"x", "y"}]> : tensor<24x24xf32>
  %1 = sdy.all_to_all [{"y"}: 1->0] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<24x24xf32>
  return %0, %1 : tensor<24x24xf32>, tensor<24x24xf32>
}
