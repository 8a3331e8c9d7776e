// A chain of matrix products, annotated with the shard dialect: one product moves from rows to
// columns, and what one layer needs in pieces the next one needs otherwise.

shard.grid @grid(shape = 2x3)

func.func @main(%a: tensor<12x6xf32>, %b: tensor<6x12xf32>, %c: tensor<12x6xf32>)
    -> tensor<12x6xf32> {
  %rows = shard.sharding @grid split_axes = [[0, 1], []] : !shard.sharding
  %columns = shard.sharding @grid split_axes = [[], [1]] : !shard.sharding
  %both = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %0 = shard.shard %a to %rows : tensor<12x6xf32>
  %1 = shard.shard %b to %columns : tensor<6x12xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]
    : (tensor<12x6xf32>, tensor<6x12xf32>) -> tensor<12x12xf32>
  %3 = shard.shard %2 to %both : tensor<12x12xf32>
  %4 = shard.shard %3 to %columns annotate_for_users : tensor<12x12xf32>
  %5 = stablehlo.dot_general %4, %c, contracting_dims = [1] x [0]
    : (tensor<12x12xf32>, tensor<12x6xf32>) -> tensor<12x6xf32>
  %6 = shard.shard %5 to %rows annotate_for_users : tensor<12x6xf32>
  return %6 : tensor<12x6xf32>
}
