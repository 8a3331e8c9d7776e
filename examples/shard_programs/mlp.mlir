// Two layers, annotated with the shard dialect: the batch is split over the first axis of the grid,
// the hidden features over the second. All that is not annotated is up to propagation.
//
//     sdy-opt examples/shard_programs/mlp.mlir -convert-shard-to-sdy -sdy-propagation-pipeline
//     python examples/shard_mlp.py

shard.grid @devices(shape = 2x4) {sdy.axis_names = ["batch", "model"]}

func.func @main(%x: tensor<8x16xf32>, %w1: tensor<16x32xf32>, %b1: tensor<32xf32>,
                %w2: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %by_batch = shard.sharding @devices split_axes = [[0], []] : !shard.sharding
  %by_columns = shard.sharding @devices split_axes = [[], [1]] : !shard.sharding
  %by_rows = shard.sharding @devices split_axes = [[1], []] : !shard.sharding
  %bias = shard.sharding @devices split_axes = [[1]] : !shard.sharding
  %x1 = shard.shard %x to %by_batch : tensor<8x16xf32>
  %w1s = shard.shard %w1 to %by_columns : tensor<16x32xf32>
  %b1s = shard.shard %b1 to %bias : tensor<32xf32>
  %w2s = shard.shard %w2 to %by_rows : tensor<32x16xf32>
  %0 = stablehlo.dot_general %x1, %w1s, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.broadcast_in_dim %b1s, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x32xf32>
  %3 = stablehlo.tanh %2 : tensor<8x32xf32>
  %4 = stablehlo.dot_general %3, %w2s, contracting_dims = [1] x [0]
    : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %5 = shard.shard %4 to %by_batch annotate_for_users : tensor<8x16xf32>
  return %5 : tensor<8x16xf32>
}
