module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}]>}, %arg1: tensor<8x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}]>}) -> (tensor<8x16x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
    %1 = stablehlo.dot_general %arg0, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x16xf32>, tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
    %2 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %3 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %5 = stablehlo.add %2, %4 : tensor<16x16xi32>
    %6 = stablehlo.compare EQ, %5, %3, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %7 = stablehlo.convert %6 : (tensor<16x16xi1>) -> tensor<16x16xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x16x16xf32>) -> tensor<8x16x16xf32>
    %10 = stablehlo.add %1, %9 : tensor<8x16x16xf32>
    %11 = call @cholesky(%10) : (tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
    %12 = "stablehlo.triangular_solve"(%11, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<8x16x16xf32>, tensor<8x16x4xf32>) -> tensor<8x16x4xf32>
    %13 = "stablehlo.triangular_solve"(%11, %12) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<8x16x16xf32>, tensor<8x16x4xf32>) -> tensor<8x16x4xf32>
    return %13 : tensor<8x16x4xf32>
  }
  func.func private @cholesky(%arg0: tensor<8x16x16xf32>) -> tensor<8x16x16xf32> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<8x16x16xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x16xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x16x16xf32>
    %4 = stablehlo.cholesky %3, lower = true : tensor<8x16x16xf32>
    %5 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %7 = stablehlo.add %5, %6 : tensor<16x16xi32>
    %8 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %9 = stablehlo.compare GE, %7, %8, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2] : (tensor<16x16xi1>) -> tensor<8x16x16xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16x16xf32>
    %12 = stablehlo.select %10, %4, %11 : tensor<8x16x16xi1>, tensor<8x16x16xf32>
    return %12 : tensor<8x16x16xf32>
  }
}
