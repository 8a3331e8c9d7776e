module @jit_run attributes {mhlo.num_partitions = 6 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=3, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 3 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<13x10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"a"}, {}]> : tensor<13x10xf32>
    %1 = stablehlo.exponential %0 : tensor<13x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<13x10xf32>, tensor<f32>) -> tensor<10xf32>
    return %2 : tensor<10xf32>
  }
}
