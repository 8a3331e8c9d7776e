// RUN: sdy-opt %s --split-input-file --verify-diagnostics -shard-to-stablehlo

// expected-error @+1 {{cannot lower 'shard.grid' to StableHLO: axes of unknown size (2x?) have no static groups}}
shard.grid @grid(shape = 2x?)
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
// expected-error @+1 {{all grids must have as many devices, not 3 and 4}}
shard.grid @other(shape = 3)
func.func @f() {
  return
}

// -----

shard.grid @grid(shape = 2x2)
func.func @generic(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a 'generic' reduction does not define how it combines elements}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] reduction = generic : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @bits_of_floats(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'bitwise_and' needs integers, not f32}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] reduction = bitwise_and : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @average_of_integers(%a: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{an average of i32 would be rounded; convert it to floating point}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] reduction = average : tensor<4xi32> -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @sum_of_booleans(%a: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error @+1 {{'sum' of booleans differs between MLIR and StableHLO; use 'bitwise_and', 'bitwise_or' or 'bitwise_xor'}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xi1> -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @order_of_complex_numbers(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @+1 {{'max' requires ordered elements, not complex<f32>}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] reduction = max : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{tensor<?xf32> has dynamic dimensions}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @buffer(%a: memref<4xf32>) -> memref<4xf32> {
  // expected-error @+1 {{memref<4xf32> is not a tensor: StableHLO has no buffers}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : memref<4xf32> -> memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @dynamic_halo(%a: tensor<4xf32>, %h: i64) -> tensor<4xf32> {
  // expected-error @+1 {{halo sizes must be constants}}
  %0 = shard.update_halo %a on @grid split_axes = [[0]] halo_sizes = [1, %h] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @recv_of_nobody(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cannot lower 'shard.recv' to StableHLO: it requires a source}}
  %0 = shard.recv %a on @grid grid_axes = [0] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @send_alone(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no matching 'shard.recv' has these devices as sources}}
  %0 = shard.send %a on @grid grid_axes = [0] destination = [1] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @other_type(%a: tensor<4xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = shard.send %a on @grid grid_axes = [0] destination = [1] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{no 'shard.send' of this type on this grid has these devices as destinations}}
  %1 = shard.recv %b on @grid grid_axes = [0] source = [0] : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @dynamic_destination(%a: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  // expected-error @+1 {{its destination must be computed from constants and indices of devices}}
  %0 = shard.send %a on @grid grid_axes = [0] destination = [%i] : (tensor<4xf32>, index) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @dynamic_root(%a: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  // expected-error @+1 {{the root must be computed from constants and indices of devices, or taken from an integer tensor of rank 0 by 'tensor.extract'}}
  %0 = shard.broadcast %a on @grid grid_axes = [0] root = [%i] : (tensor<4xf32>, index) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @used_before_it_is_sent(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{the received value is used before the 'shard.send': move the send up}}
  %0 = shard.recv %a on @grid grid_axes = [0] source = [0] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  %2 = shard.send %1 on @grid grid_axes = [0] destination = [1] : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @condition(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-error @+1 {{a condition around sends and receives must depend on the device only}}
  scf.if %c {
    %0 = shard.send %a on @grid grid_axes = [0] destination = [1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @collective_in_a_branch(%a: tensor<4xf32>) -> tensor<4xf32> {
  %i = shard.process_linear_index on @grid : index
  %c0 = arith.constant 0 : index
  %is = arith.cmpi eq, %i, %c0 : index
  scf.if %is {
    // expected-error @+1 {{devices that don't take this branch must take part: move it out of the branch}}
    %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %1 = shard.send %0 on @grid grid_axes = [0] destination = [1] : (tensor<4xf32>) -> tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @annotation(%a: tensor<4xf32>) -> tensor<4xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  // expected-error @+1 {{annotations are for global tensors, but collectives for local ones; run 'convert-shard-to-sdy' on the global program, and partition it}}
  %0 = shard.shard %a to %s : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @index_elsewhere(%a: memref<4xf32>) -> f32 {
  // expected-error @+1 {{memref.load can't use its result; supported users are other integers, shard operations, tensors made of integers, and function results}}
  %i = shard.process_linear_index on @grid : index
  %0 = memref.load %a[%i] : memref<4xf32>
  return %0 : f32
}

// -----

shard.grid @grid(shape = 2x2)
func.func @sharding_of_no_annotation(%a: tensor<4xf32>) -> index {
  %s = shard.get_sharding %a : tensor<4xf32> -> !shard.sharding
  // expected-error @+1 {{func.return can't use its result}}
  %0 = shard.shard_shape dims = [4] sharding = %s device = [0, 0] : index
  return %0 : index
}

// -----

shard.grid @grid(shape = 2x2)
func.func @another_region(%a: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %0 = shard.send %a on @grid grid_axes = [0] destination = [1] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.if"(%c) ({
    // expected-error @+1 {{the matching 'shard.send' is in another region}}
    %2 = shard.recv %a on @grid grid_axes = [0] source = [0] : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
