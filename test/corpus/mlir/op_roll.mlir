module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=4, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 4 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<16x24xf32> {jax.result_info = "result"}) {
    %0 = call @_roll_static(%arg0) : (tensor<16x24xf32>) -> tensor<16x24xf32>
    return %0 : tensor<16x24xf32>
  }
  func.func private @_roll_static(%arg0: tensor<16x24xf32>) -> tensor<16x24xf32> {
    %0 = stablehlo.slice %arg0 [13:16, 0:24] : (tensor<16x24xf32>) -> tensor<3x24xf32>
    %1 = stablehlo.slice %arg0 [0:13, 0:24] : (tensor<16x24xf32>) -> tensor<13x24xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x24xf32>, tensor<13x24xf32>) -> tensor<16x24xf32>
    return %2 : tensor<16x24xf32>
  }
}
