module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x16xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %arg0 : tensor<16x16xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {}]> : tensor<16x16xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"data"}]> : tensor<16x16xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<16x16xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{"model"}, {"data"}]> : tensor<16x16xf32>
    %6 = stablehlo.add %2, %5 : tensor<16x16xf32>
    %7 = stablehlo.add %6, %1 : tensor<16x16xf32>
    return %7 : tensor<16x16xf32>
  }
}
