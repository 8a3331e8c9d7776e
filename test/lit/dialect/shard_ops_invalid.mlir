// RUN: sdy-opt %s --split-input-file --verify-diagnostics

// What upstream's verifier passes over, or reads out of bounds for.

// expected-error @+1 {{'shard.grid' op axis 1 has size 0: sizes of a grid must be positive}}
shard.grid @grid(shape = 2x0)

// -----

shard.grid @grid(shape = 2x3)
func.func @sharding_axis(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'shard.sharding' op split_axes contains axis 5, but the grid 2x3 has the axes 0 to 1}}
  %s = shard.sharding @grid split_axes = [[5]] : !shard.sharding
  return
}

// -----

shard.grid @grid(shape = 2x3)
func.func @offsets_of_several_axes() {
  // expected-error @+1 {{has offsets for dimension 0, which is split along 2 axes}}
  %s = shard.sharding @grid split_axes = [[0, 1]] sharded_dims_offsets = [0, 1, 2, 3, 4, 5] : !shard.sharding
  return
}

// -----

shard.grid @grid(shape = 4)
func.func @too_many_offsets() {
  // expected-error @+1 {{has 6 sharded_dims_offsets, expected 5: one for each shard and one for the end of each split dimension}}
  %s = shard.sharding @grid split_axes = [[0]] sharded_dims_offsets = [0, 1, 2, 3, 4, 5] : !shard.sharding
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @first_offset() {
  // expected-error @+1 {{the first shard of dimension 0 begins at 1: it must begin at 0}}
  %s = shard.sharding @grid split_axes = [[0]] sharded_dims_offsets = [1, 2, 3] : !shard.sharding
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @last_offset(%a: tensor<8xf32>) {
  %s = shard.sharding @grid split_axes = [[0]] sharded_dims_offsets = [0, 2, 6] : !shard.sharding
  // expected-error @+1 {{the last shard of dimension 0 ends at 6, but the dimension has 8 elements}}
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2)
func.func @rank(%a: tensor<8xf32>) {
  %s = shard.sharding @grid split_axes = [[0], []] : !shard.sharding
  // expected-error @+1 {{the sharding has 2 dimensions, but tensor<8xf32> has 1}}
  %0 = shard.shard %a to %s : tensor<8xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @shard_shape() {
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  // expected-error @+1 {{has 1 results for 2 dims}}
  %0 = shard.shard_shape dims = [4, 4] sharding = %s device = [0, 0] : index
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @shard_shape_device() {
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  // expected-error @+1 {{coordinate 2 of device is out of range: axis 1 has 2 devices}}
  %0:2 = shard.shard_shape dims = [4, 4] sharding = %s device = [0, 2] : index, index
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @neighbors(%i: index) {
  // expected-error @+1 {{has 1 device indices, but the grid has 2 axes}}
  %0:2 = shard.neighbors_linear_indices on @grid[%i] split_axes = [1] : index, index
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @all_slice(%a: tensor<4xf32>) {
  // expected-error @+1 {{slice_axis 3 is out of range: tensor<4xf32> is of rank 1}}
  %0 = shard.all_slice %a on @grid grid_axes = [0] slice_axis = 3 : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @all_to_all(%a: tensor<4xf32>) {
  // expected-error @+1 {{concat_axis 1000000 is out of range}}
  %0 = shard.all_to_all %a on @grid grid_axes = [0] split_axis = 0 concat_axis = 1000000 : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @scatter(%a: tensor<4xf32>) {
  // expected-error @+1 {{scatter_dim 1 is out of range}}
  %0 = shard.scatter %a on @grid grid_axes = [0] scatter_axis = 1 root = [0] : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @reduce_scatter(%a: tensor<4xf32>) {
  // expected-error @+1 {{scatter_dim 2 is out of range}}
  %0 = shard.reduce_scatter %a on @grid grid_axes = [0] scatter_dim = 2 : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

shard.grid @grid(shape = 3)
func.func @uneven_all_to_all(%a: tensor<4xf32>) {
  // expected-error @+1 {{cannot split dimension 0 of size 4 evenly over 3 devices: pad it to 6}}
  %0 = shard.all_to_all %a on @grid grid_axes = [0] split_axis = 0 concat_axis = 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @root_of_the_documentation(%a: tensor<3x4xf32>) {
  // expected-error @+1 {{coordinate 2 of root is out of range: axis 1 has 2 devices}}
  %0 = shard.reduce %a on @grid grid_axes = [1, 0] reduction = <max> root = [2, 3] : (tensor<3x4xf32>) -> tensor<3x4xf64>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @negative_root(%a: tensor<4xf32>) {
  // expected-error @+1 {{coordinate -1 of root is out of range: axis 0 has 2 devices}}
  %0 = shard.broadcast %a on @grid grid_axes = [0] root = [-1] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @duplicate_axes(%a: tensor<4xf32>) {
  // expected-error @+1 {{grid_axes contains axis 1 twice}}
  %0 = shard.all_reduce %a on @grid grid_axes = [1, 1] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @halo_sizes(%a: tensor<4xf32>) {
  // expected-error @+1 {{has 1 halo_sizes, expected 2: two for each of 1 split dimensions}}
  %0 = shard.update_halo %a on @grid split_axes = [[0]] halo_sizes = [1] : tensor<4xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @halo_larger_than_core(%a: tensor<4xf32>) {
  // expected-error @+1 {{dimension 0 of size 4 has a core of 1 elements between halos of 2 and 1}}
  %0 = shard.update_halo %a on @grid split_axes = [[0]] halo_sizes = [2, 1] : tensor<4xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @halo_axes(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{split_axes contains axis 0 twice}}
  %0 = shard.update_halo %a on @grid split_axes = [[0], [0]] halo_sizes = [1, 1, 1, 1] : tensor<4x4xf32>
  return
}

// -----

// What upstream checks itself.

func.func @no_grid(%a: tensor<4xf32>) {
  // expected-error @+1 {{Undefined required grid symbol "grid"}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @shape_of_result(%a: tensor<4xf32>) {
  // expected-error @+1 {{Dimension size mismatch for result axis 0}}
  %0 = shard.all_gather %a on @grid grid_axes = [0] gather_axis = 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

shard.grid @grid0(shape = 2x4)
func.func @shift_of_nothing() {
  // expected-error @+1 {{expected SSA operand}}
  %1 = shard.shift on @grid0 grid_axes = [1] shift_axis = 1 offset = 2 rotate : tensor<2xi8> -> tensor<2xi8>
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @typo_of_the_documentation(%a: tensor<4xf32>) {
  %sharding1 = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  // expected-error @+1 {{unexpected character}}
  %0 = shard.shard %a to $sharding1 : tensor<4xf32>
  return
}
