// RUN: sdy-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(shard-partition),shard-simplify,convert-shard-to-mpi)"

shard.grid @grid(shape = 2x3)
func.func @uneven(%a: tensor<5xf32>) -> tensor<5xf32> {
  %s = shard.sharding @grid split_axes = [[0]]
  // expected-error @+1 {{upstream's 'shard-partition' would generate wrong code: dimension 0 of size 5 is not divisible by 2; run 'convert-shard-to-sdy' and partition by 'sdy-partition-pipeline'}}
  %0 = shard.shard %a to %s : tensor<5xf32>
  %1 = shard.shard %0 to %s annotate_for_users : tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @reshard(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = shard.sharding @grid split_axes = [[], [0]]
  %t = shard.sharding @grid split_axes = [[0]]
  %0 = shard.shard %a to %s : tensor<4x4xf32>
  // expected-error @+1 {{upstream's 'shard-partition' would generate wrong code: of the reshard from [[], [0]] to [[0], []]}}
  %1 = shard.shard %0 to %t annotate_for_users : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @matmul(%a: tensor<1x4x4xf32>, %b: tensor<1x4x4xf32>, %z: tensor<1xf32>) {
  %s = shard.sharding @grid split_axes = [[], [], [0]]
  %t = shard.sharding @grid split_axes = [[], [0]]
  %0 = shard.shard %a to %s : tensor<1x4x4xf32>
  %1 = shard.shard %b to %t : tensor<1x4x4xf32>
  // expected-error @+1 {{sums of 'tosa.matmul' along a sharded dimension stay partial}}
  %2 = tosa.matmul %0, %1, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @index(%a: tensor<4xi64>) {
  %s = shard.sharding @grid split_axes = [[0]]
  %0 = shard.shard %a to %s : tensor<4xi64>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%0 : tensor<4xi64>) {
  ^bb0(%x: i64):
    // expected-error @+1 {{'linalg.index' would count from the beginning of each shard}}
    %i = linalg.index 0 : index
    %y = arith.index_cast %i : index to i64
    linalg.yield %y : i64
  } -> tensor<4xi64>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @gather_of_slices(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = shard.all_slice %a on @grid grid_axes = [0] slice_axis = 0 : tensor<4xf32> -> tensor<2xf32>
  // expected-error @+1 {{upstream's 'shard-simplify' would generate wrong code}}
  %1 = shard.all_gather %0 on @grid grid_axes = [0] gather_axis = 0 : tensor<2xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @no_axes(%a: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @+1 {{upstream's 'convert-shard-to-mpi' would generate wrong code: 'shard.all_reduce' over no axes would include all processes; run 'shard-prepare-for-mpi' first}}
  %0 = shard.all_reduce %a on @grid : tensor<4xf32> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @order(%a: tensor<4xf32>) -> tensor<16xf32> {
  // expected-error @+1 {{the order of the axes [1, 0] would be ignored}}
  %0 = shard.all_gather %a on @grid grid_axes = [1, 0] gather_axis = 0 : tensor<4xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @average(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{of a reduction of kind 'average'}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] reduction = average : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @shape() -> index {
  %s = shard.sharding @grid split_axes = [[0, 1]]
  // expected-error @-1 {{'shard.shard_shape' of a dimension along several axes would use the first only}}
  %0 = shard.shard_shape dims = [8] sharding = %s device = [0, 0] : index
  return %0 : index
}
