module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<32x32xf32> {jax.result_info = "result[0]"}, tensor<16x96xf32> {jax.result_info = "result[1]"}, tensor<16x2x32xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<16x32xf32>
    %3 = stablehlo.concatenate %arg0, %2, %arg1, dim = 1 : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x96xf32>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<16x32xf32>) -> tensor<16x1x32xf32>
    %5 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<16x32xf32>) -> tensor<16x1x32xf32>
    %6 = stablehlo.concatenate %4, %5, dim = 1 : (tensor<16x1x32xf32>, tensor<16x1x32xf32>) -> tensor<16x2x32xf32>
    return %0, %3, %6 : tensor<32x32xf32>, tensor<16x96xf32>, tensor<16x2x32xf32>
  }
}
