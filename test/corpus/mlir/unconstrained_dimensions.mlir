module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32>, %arg1: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<16x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{?}, {}]> : tensor<16x32xf32>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"data"}, {?}]> : tensor<16x8xf32>
    %3 = stablehlo.sine %2 : tensor<16x8xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{?}, {?}]> : tensor<16x8xf32>
    return %4 : tensor<16x8xf32>
  }
}
