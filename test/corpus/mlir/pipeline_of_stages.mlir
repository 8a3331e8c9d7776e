module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["stage"=4, "data"=2]> {stablehlo.mesh = {axes = [{name = "stage", size = 4 : i64}, {name = "data", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"stage"}, {}, {}]>}, %arg1: tensor<4x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"stage"}, {"data"}, {}]>}) -> (tensor<6x8x32xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %arg1, %iterArg_2 = %0) : tensor<4x32x32xf32>, tensor<i32>, tensor<4x8x32xf32>, tensor<6x8x32xf32>
    cond {
      %c_3 = stablehlo.constant dense<6> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_0, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:2 = func.call @closed_call(%iterArg, %iterArg_1) : (tensor<4x32x32xf32>, tensor<4x8x32xf32>) -> (tensor<4x8x32xf32>, tensor<8x32xf32>)
      %3 = func.call @dynamic_update_index_in_dim(%iterArg_2, %2#1, %iterArg_0) : (tensor<6x8x32xf32>, tensor<8x32xf32>, tensor<i32>) -> tensor<6x8x32xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg_0, %c_3 : tensor<i32>
      stablehlo.return %iterArg, %4, %2#0, %3 : tensor<4x32x32xf32>, tensor<i32>, tensor<4x8x32xf32>, tensor<6x8x32xf32>
    }
    return %1#3 : tensor<6x8x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<4x32x32xf32>, %arg1: tensor<4x8x32xf32>) -> (tensor<4x8x32xf32>, tensor<8x32xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x32xf32>, tensor<4x32x32xf32>) -> tensor<4x8x32xf32>
    %1 = stablehlo.tanh %0 : tensor<4x8x32xf32>
    %2 = call @_roll_static(%1) : (tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
    %3 = stablehlo.slice %1 [3:4, 0:8, 0:32] : (tensor<4x8x32xf32>) -> tensor<1x8x32xf32>
    %4 = stablehlo.reshape %3 : (tensor<1x8x32xf32>) -> tensor<8x32xf32>
    return %2, %4 : tensor<4x8x32xf32>, tensor<8x32xf32>
  }
  func.func private @_roll_static(%arg0: tensor<4x8x32xf32>) -> tensor<4x8x32xf32> {
    %0 = stablehlo.slice %arg0 [3:4, 0:8, 0:32] : (tensor<4x8x32xf32>) -> tensor<1x8x32xf32>
    %1 = stablehlo.slice %arg0 [0:3, 0:8, 0:32] : (tensor<4x8x32xf32>) -> tensor<3x8x32xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x8x32xf32>, tensor<3x8x32xf32>) -> tensor<4x8x32xf32>
    return %2 : tensor<4x8x32xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x8x32xf32>, %arg1: tensor<8x32xf32>, %arg2: tensor<i32>) -> tensor<6x8x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x32xf32>) -> tensor<1x8x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x8x32xf32>, tensor<1x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x8x32xf32>
    return %1 : tensor<6x8x32xf32>
  }
}
