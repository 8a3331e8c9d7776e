module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<60xf32>) -> (tensor<4x15xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"data", "model"}]> : tensor<60xf32>
    %1 = stablehlo.reshape %0 : (tensor<60xf32>) -> tensor<6x10xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<6x10xf32>) -> tensor<10x6xf32>
    %3 = stablehlo.reshape %2 : (tensor<10x6xf32>) -> tensor<4x15xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{"data"}, {}]> : tensor<4x15xf32>
    return %4 : tensor<4x15xf32>
  }
}
