module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<10x7xf32>, %arg1: tensor<7x5xf32>) -> (tensor<10x5xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"data"}, {}]> : tensor<10x7xf32>
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{}, {"model"}]> : tensor<7x5xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x7xf32>, tensor<7x5xf32>) -> tensor<10x5xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<10x5xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<10xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x5xf32>
    %8 = stablehlo.subtract %2, %7 : tensor<10x5xf32>
    %9 = stablehlo.exponential %8 : tensor<10x5xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<10x5xf32>, tensor<f32>) -> tensor<10xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x5xf32>
    %13 = stablehlo.divide %9, %12 : tensor<10x5xf32>
    return %13 : tensor<10x5xf32>
  }
}
