module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=4, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 4 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<16x24xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<16x24xf32>) -> tensor<16x24xbf16>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x24xbf16>
    %2 = stablehlo.multiply %0, %1 : tensor<16x24xbf16>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}]> : tensor<16x24xbf16>
    return %3 : tensor<16x24xbf16>
  }
}
