module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=4, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 4 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<13x10xf32>) -> (tensor<7x10xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"a"}, {"b"}]> : tensor<13x10xf32>
    %1 = stablehlo.slice %0 [2:9, 0:10] : (tensor<13x10xf32>) -> tensor<7x10xf32>
    return %1 : tensor<7x10xf32>
  }
}
