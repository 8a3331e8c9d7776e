module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<32x64xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<16x64xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<16x32xf32>
    %2 = call @round(%1) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %3 = stablehlo.convert %2 : (tensor<16x32xf32>) -> tensor<16x32xi8>
    %4 = stablehlo.dot_general %3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xi8>, tensor<32x64xi8>) -> tensor<16x64xi32>
    %5 = stablehlo.convert %4 : (tensor<16x64xi32>) -> tensor<16x64xf32>
    %6 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<16x64xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<16x64xf32>
    %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %10 = stablehlo.divide %8, %9 : tensor<16x64xf32>
    return %10 : tensor<16x64xf32>
  }
  func.func private @round(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<16x32xf32>
    return %0 : tensor<16x32xf32>
  }
}
