module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<256x12xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<32x32xf32>) -> tensor<8x4x8x4xf32>
    %1 = stablehlo.transpose %0, dims = [2, 0, 3, 1] : (tensor<8x4x8x4xf32>) -> tensor<8x8x4x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x8x4x4xf32>) -> tensor<64x16xf32>
    %3 = stablehlo.reshape %2 : (tensor<64x16xf32>) -> tensor<4x16x16xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0, 2] : (tensor<4x16x16xf32>) -> tensor<16x4x16xf32>
    %5 = stablehlo.reshape %4 : (tensor<16x4x16xf32>) -> tensor<256x4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x12xf32>
    %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x4xf32>, tensor<4x12xf32>) -> tensor<256x12xf32>
    return %7 : tensor<256x12xf32>
  }
}
