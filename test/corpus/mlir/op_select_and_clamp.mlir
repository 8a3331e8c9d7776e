module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=4, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 4 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> (tensor<16x24xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<16x24xf32>, tensor<16x24xf32>) -> tensor<16x24xi1>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = call @clip(%arg0, %c, %c_0) : (tensor<16x24xf32>, tensor<i32>, tensor<i32>) -> tensor<16x24xf32>
    %2 = call @_where(%0, %1, %arg1) : (tensor<16x24xi1>, tensor<16x24xf32>, tensor<16x24xf32>) -> tensor<16x24xf32>
    return %2 : tensor<16x24xf32>
  }
  func.func private @clip(%arg0: tensor<16x24xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<16x24xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x24xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<16x24xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<16x24xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<16x24xf32>
    return %5 : tensor<16x24xf32>
  }
  func.func private @_where(%arg0: tensor<16x24xi1>, %arg1: tensor<16x24xf32>, %arg2: tensor<16x24xf32>) -> tensor<16x24xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<16x24xi1>, tensor<16x24xf32>
    return %0 : tensor<16x24xf32>
  }
}
