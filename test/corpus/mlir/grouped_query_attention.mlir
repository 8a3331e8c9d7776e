module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x16x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}, {}]>}, %arg1: tensor<4x16x2x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {}]>}, %arg2: tensor<4x16x2x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {}]>}) -> (tensor<4x16x8x16xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x2x4x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<4x16x2x4x16xf32>) -> tensor<4x16x8x16xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2, 4] : (tensor<4x16x2x16xf32>) -> tensor<4x16x2x4x16xf32>
    %3 = stablehlo.reshape %2 : (tensor<4x16x2x4x16xf32>) -> tensor<4x16x8x16xf32>
    %4 = stablehlo.dot_general %arg0, %1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x8x16xf32>, tensor<4x16x8x16xf32>) -> tensor<4x8x16x16xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<4x8x16x16xf32>, tensor<f32>) -> tensor<4x8x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8x16xf32>
    %7 = stablehlo.maximum %6, %5 : tensor<4x8x16xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<4x8x16xf32>) -> tensor<4x8x16x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<4x8x16x1xf32>) -> tensor<4x8x16x16xf32>
    %10 = stablehlo.subtract %4, %9 : tensor<4x8x16x16xf32>
    %11 = stablehlo.exponential %10 : tensor<4x8x16x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<4x8x16x16xf32>, tensor<f32>) -> tensor<4x8x16xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<4x8x16xf32>) -> tensor<4x8x16x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<4x8x16x1xf32>) -> tensor<4x8x16x16xf32>
    %15 = stablehlo.divide %11, %14 : tensor<4x8x16x16xf32>
    %16 = stablehlo.dot_general %3, %15, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x16x8x16xf32>, tensor<4x8x16x16xf32>) -> tensor<4x8x16x16xf32>
    %17 = stablehlo.transpose %16, dims = [0, 3, 1, 2] : (tensor<4x8x16x16xf32>) -> tensor<4x16x8x16xf32>
    return %17 : tensor<4x16x8x16xf32>
  }
}
