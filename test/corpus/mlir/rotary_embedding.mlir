module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x16x4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}, {}]>}, %arg1: tensor<8x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<8x16x4x32xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<8x16xi32>) -> tensor<8x16x1xi32>
    %1 = stablehlo.iota dim = 0 : tensor<16xi32>
    %2 = stablehlo.convert %1 : (tensor<16xi32>) -> tensor<16xf32>
    %cst = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %4 = stablehlo.divide %2, %3 : tensor<16xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %6 = stablehlo.power %5, %4 : tensor<16xf32>
    %7 = stablehlo.convert %0 : (tensor<8x16x1xi32>) -> tensor<8x16x1xf32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [2] : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x16xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<8x16x16xf32>
    %11 = stablehlo.divide %9, %10 : tensor<8x16x16xf32>
    %12 = stablehlo.sine %11 : tensor<8x16x16xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 3] : (tensor<8x16x16xf32>) -> tensor<8x16x1x16xf32>
    %14 = stablehlo.cosine %11 : tensor<8x16x16xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 3] : (tensor<8x16x16xf32>) -> tensor<8x16x1x16xf32>
    %16 = stablehlo.slice %arg0 [0:8, 0:16, 0:4, 0:16] : (tensor<8x16x4x32xf32>) -> tensor<8x16x4x16xf32>
    %17 = stablehlo.slice %arg0 [0:8, 0:16, 0:4, 16:32] : (tensor<8x16x4x32xf32>) -> tensor<8x16x4x16xf32>
    %18 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<8x16x1x16xf32>) -> tensor<8x16x4x16xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<8x16x4x16xf32>
    %20 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<8x16x1x16xf32>) -> tensor<8x16x4x16xf32>
    %21 = stablehlo.multiply %17, %20 : tensor<8x16x4x16xf32>
    %22 = stablehlo.subtract %19, %21 : tensor<8x16x4x16xf32>
    %23 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<8x16x1x16xf32>) -> tensor<8x16x4x16xf32>
    %24 = stablehlo.multiply %17, %23 : tensor<8x16x4x16xf32>
    %25 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<8x16x1x16xf32>) -> tensor<8x16x4x16xf32>
    %26 = stablehlo.multiply %16, %25 : tensor<8x16x4x16xf32>
    %27 = stablehlo.add %24, %26 : tensor<8x16x4x16xf32>
    %28 = stablehlo.concatenate %22, %27, dim = 3 : (tensor<8x16x4x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x16x4x32xf32>
    return %28 : tensor<8x16x4x32xf32>
  }
}
