// RUN: sdy-opt %s --split-input-file --verify-diagnostics -shard-prepare-for-mpi

shard.grid @grid(shape = 2x2)
func.func @complex_numbers(%a: tensor<4xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  // expected-error @+1 {{cannot run on MPI: MPI has no elements of type complex<f32>}}
  %0 = shard.all_gather %a on @grid grid_axes = [0] gather_axis = 0 : tensor<4xcomplex<f32>> -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @unsigned(%a: tensor<4xui32>) -> tensor<4xui32> {
  // expected-error @+1 {{MPI would compare elements of type ui32 as signed numbers}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] reduction = max : tensor<4xui32> -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @generic(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a 'generic' reduction does not define how it combines elements}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] reduction = generic : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{axes of unknown size (?) have no static groups}}
shard.grid @grid(shape = ?)
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
