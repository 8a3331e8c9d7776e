module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x16x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>}) -> (tensor<4x16x8x4xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}, {"model"}, {}, {}]>] out_shardings=[<@mesh, [{"data"}, {"model"}, {}, {}]>] manual_axes={"data", "model"} (%arg1: tensor<2x4x8x4xf32>) {
      %3 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 2 : i64}> : (tensor<2x4x8x4xf32>) -> tensor<2x16x2x4xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<2x16x2x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
      %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x4xf32>
      %6 = stablehlo.maximum %5, %4 : tensor<2x2x4xf32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [0, 2, 3] : (tensor<2x2x4xf32>) -> tensor<2x1x2x4xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x1x2x4xf32>) -> tensor<2x16x2x4xf32>
      %9 = stablehlo.subtract %3, %8 : tensor<2x16x2x4xf32>
      %10 = stablehlo.exponential %9 : tensor<2x16x2x4xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<2x16x2x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
      %12 = stablehlo.broadcast_in_dim %11, dims = [0, 2, 3] : (tensor<2x2x4xf32>) -> tensor<2x1x2x4xf32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<2x1x2x4xf32>) -> tensor<2x16x2x4xf32>
      %14 = stablehlo.divide %10, %13 : tensor<2x16x2x4xf32>
      %15 = "stablehlo.all_to_all"(%14) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 2 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<2x16x2x4xf32>) -> tensor<2x4x8x4xf32>
      sdy.return %15 : tensor<2x4x8x4xf32>
    } : (tensor<4x16x8x4xf32>) -> tensor<4x16x8x4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16x8x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x16x8x4xf32>
    return %2 : tensor<4x16x8x4xf32>
  }
}
