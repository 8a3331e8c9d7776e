// RUN: sdy-opt %s --split-input-file --verify-diagnostics -convert-shard-to-sdy

// expected-error @+1 {{cannot convert shard to sdy: grid '@grid' has axes of unknown size (2x?); give their sizes}}
shard.grid @grid(shape = 2x?)

// -----

shard.grid @grid(shape = 2x3)
// expected-error @+1 {{all grids must have as many devices, but there are 6 ('@grid') and 8 ('@other')}}
shard.grid @other(shape = 8)

// -----

// expected-error @+1 {{'sdy.axis_names' has 1 names for 2 axes}}
shard.grid @grid(shape = 2x3) {sdy.axis_names = ["x"]}

// -----

// expected-error @+1 {{duplicate axis name: "x"}}
shard.grid @grid(shape = 2x3x2) {sdy.axis_names = ["x", "y", "x"]}

// -----

shard.grid @grid(shape = 2x3)
func.func @collective(%a: tensor<8xf32>) {
  // expected-error @+1 {{'shard.all_reduce' has no equivalent in a program of global tensors; lower it by 'shard-to-stablehlo'}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @query(%a: tensor<8xf32>) {
  // expected-error @+1 {{'shard.get_sharding' has no equivalent}}
  %0 = shard.get_sharding %a : tensor<8xf32> -> !shard.sharding
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @halo(%a: tensor<8xf32>) {
  // expected-error @+1 {{'shard.sharding' with halos (@grid split_axes = [[0]] halo_sizes = [1, 0]) has no equivalent}}
  %s = shard.sharding @grid split_axes = [[0]] halo_sizes = [1, 0]
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @dynamic_offsets(%a: tensor<8xf32>, %i: i64) {
  // expected-error @+1 {{with dynamic offsets has no equivalent}}
  %s = shard.sharding @grid split_axes = [[0]] sharded_dims_offsets = [0, %i, 8]
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @argument(%a: tensor<8xf32>, %s: !shard.sharding) {
  // expected-error @+1 {{the sharding of 'shard.shard' must be the result of a 'shard.sharding'}}
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @returned() -> !shard.sharding {
  %s = shard.sharding @grid split_axes = [[0]]
  // expected-error @+1 {{a sharding may be used by 'shard.shard' only, not by 'func.return'}}
  return %s : !shard.sharding
}

// -----

shard.grid @grid(shape = 2x3)
func.func @uneven(%a: tensor<7xf32>) {
  %s = shard.sharding @grid split_axes = [[1]]
  // expected-error @+1 {{dimension 0 of size 7 is not divided into 3 shards evenly as in Shardy: pad it to 9, or give it the offsets [0, 3, 6, 7]}}
  %0 = shard.shard %a to %s : tensor<7xf32>
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @other_offsets(%a: tensor<8xf32>) {
  %s = shard.sharding @grid split_axes = [[0]] sharded_dims_offsets = [0, 2, 8]
  // expected-error @+1 {{dimension 0 of size 8 is not divided into 2 shards with these offsets as in Shardy: pad it to 8, or give it the offsets [0, 4, 8]}}
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

// What the documentation calls undefined.

shard.grid @grid(shape = 2x3)
func.func @annotate_on_same_result_with_different_sharding(%arg0: tensor<6x6xf32>) {
  %sharding1 = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %sharding2 = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  %0 = shard.shard %arg0 to %sharding1 : tensor<6x6xf32>
  // expected-error @+1 {{two annotations of one definition differ}}
  %1 = shard.shard %0 to %sharding2 : tensor<6x6xf32>
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @annotate_on_same_result_same_value_with_different_sharding(%arg0: tensor<6x6xf32>) {
  %sharding1 = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %sharding2 = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  %0 = shard.shard %arg0 to %sharding1 : tensor<6x6xf32>
  // expected-error @+1 {{two annotations of one definition differ}}
  %1 = shard.shard %arg0 to %sharding2 : tensor<6x6xf32>
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @annotate_on_same_operand_with_different_sharding(%arg0: tensor<6x6xf32>) {
  %sharding1 = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %sharding2 = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  %0 = shard.shard %arg0 to %sharding1 annotate_for_users : tensor<6x6xf32>
  // expected-error @+1 {{an annotation of uses follows a different one}}
  %1 = shard.shard %0 to %sharding2 annotate_for_users : tensor<6x6xf32>
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @result_annotated_after_operand(%arg0: tensor<6x6xf32>) {
  %sharding1 = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %sharding2 = shard.sharding @grid split_axes = [[1]] : !shard.sharding
  %0 = shard.shard %arg0 to %sharding1 annotate_for_users : tensor<6x6xf32>
  // expected-error @+1 {{an annotation of a definition follows one of uses}}
  %1 = shard.shard %0 to %sharding2 : tensor<6x6xf32>
  return
}
