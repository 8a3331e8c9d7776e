module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %arg1: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}) -> (tensor<8x16x32xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.cosine %arg0 : tensor<8x16x32xf32>
    %1 = stablehlo.custom_call @CustomSPMDPartitioning(%0, %arg1) {api_version = 2 : i32, backend_config = "140349902987984", sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [k])->([i, j, k]) {i=8, j=16, k=32}, custom>} : (tensor<8x16x32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
    %2 = stablehlo.sine %1 : tensor<8x16x32xf32>
    return %2 : tensor<8x16x32xf32>
  }
}
