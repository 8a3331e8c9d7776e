module @jit_run attributes {mhlo.num_partitions = 6 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=3, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 3 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<13x10xf32>, %arg1: tensor<10x7xf32>) -> (tensor<13x7xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {"a"}]> : tensor<13x10xf32>
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{"a"}, {}]> : tensor<10x7xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<13x10xf32>, tensor<10x7xf32>) -> tensor<13x7xf32>
    return %2 : tensor<13x7xf32>
  }
}
