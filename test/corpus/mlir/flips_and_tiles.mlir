module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}) -> (tensor<32x32xf32> {jax.result_info = "result"}) {
    %0 = call @_flip(%arg0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<16x32xf32>) -> tensor<1x16x1x32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x16x1x32xf32>) -> tensor<2x16x1x32xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x16x1x32xf32>) -> tensor<32x32xf32>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<16x32xf32>) -> tensor<16x2x32xf32>
    %5 = stablehlo.reshape %4 : (tensor<16x2x32xf32>) -> tensor<32x32xf32>
    %6 = stablehlo.add %3, %5 : tensor<32x32xf32>
    return %6 : tensor<32x32xf32>
  }
  func.func private @_flip(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<16x32xf32>
    return %0 : tensor<16x32xf32>
  }
}
