module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<16x8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg0, %c_0 : tensor<i32>
    %1:2 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
      %3 = stablehlo.multiply %arg1, %2 : tensor<16x8xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %4 = stablehlo.reduce(%arg1 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>
      stablehlo.return %3, %4 : tensor<16x8xf32>, tensor<8xf32>
    }, {
      %2 = stablehlo.cosine %arg1 : tensor<16x8xf32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %3 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>
      stablehlo.return %2, %3 : tensor<16x8xf32>, tensor<8xf32>
    }, {
      %2 = func.call @_flip(%arg1) : (tensor<16x8xf32>) -> tensor<16x8xf32>
      %3 = stablehlo.slice %arg1 [0:1, 0:8] : (tensor<16x8xf32>) -> tensor<1x8xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<8xf32>
      stablehlo.return %2, %4 : tensor<16x8xf32>, tensor<8xf32>
    }) : (tensor<i32>) -> (tensor<16x8xf32>, tensor<8xf32>)
    return %1#0, %1#1 : tensor<16x8xf32>, tensor<8xf32>
  }
  func.func private @_flip(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<16x8xf32>
    return %0 : tensor<16x8xf32>
  }
}
