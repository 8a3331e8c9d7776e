module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<16x8xf32>) -> (tensor<16x8xf32> {jax.result_info = "result[0]"}, tensor<16x8xf32> {jax.result_info = "result[1]"}) {
    %0:2 = call @middle(%arg0, %arg1) : (tensor<16x8xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>)
    %1 = sdy.sharding_constraint %0#0 <@mesh, [{}, {"model"}]> : tensor<16x8xf32>
    %2:2 = call @middle_0(%0#1, %1) : (tensor<16x8xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>)
    %3 = call @inner_1(%2#0) : (tensor<16x8xf32>) -> tensor<16x8xf32>
    return %3, %2#1 : tensor<16x8xf32>, tensor<16x8xf32>
  }
  func.func private @middle(%arg0: tensor<16x8xf32>, %arg1: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
    %0 = call @inner(%arg0) : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %1 = stablehlo.add %0, %arg1 : tensor<16x8xf32>
    %2 = call @inner(%arg1) : (tensor<16x8xf32>) -> tensor<16x8xf32>
    return %1, %2 : tensor<16x8xf32>, tensor<16x8xf32>
  }
  func.func private @inner(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %0 = stablehlo.sine %arg0 : tensor<16x8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<16x8xf32>
    return %2 : tensor<16x8xf32>
  }
  func.func private @middle_0(%arg0: tensor<16x8xf32>, %arg1: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
    %0 = call @inner(%arg0) : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %1 = stablehlo.add %0, %arg1 : tensor<16x8xf32>
    %2 = call @inner_1(%arg1) : (tensor<16x8xf32>) -> tensor<16x8xf32>
    return %1, %2 : tensor<16x8xf32>, tensor<16x8xf32>
  }
  func.func private @inner_1(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %0 = stablehlo.sine %arg0 : tensor<16x8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<16x8xf32>
    return %2 : tensor<16x8xf32>
  }
}
