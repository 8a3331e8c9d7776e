module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<16x32xui32> {jax.result_info = "result[0]"}, tensor<16x32x2xui16> {jax.result_info = "result[1]"}, tensor<16x32xui32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<16x32xf32>) -> tensor<16x32xui32>
    %1 = stablehlo.bitcast_convert %0 : (tensor<16x32xui32>) -> tensor<16x32x2xui16>
    %c = stablehlo.constant dense<7> : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<16x32xui32>
    %3 = stablehlo.xor %0, %2 : tensor<16x32xui32>
    %4 = stablehlo.popcnt %0 : tensor<16x32xui32>
    return %3, %1, %4 : tensor<16x32xui32>, tensor<16x32x2xui16>, tensor<16x32xui32>
  }
}
