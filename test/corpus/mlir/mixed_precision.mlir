module @jit_loss attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg1: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg2: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<16x64xf32> {jax.result_info = "result[1][0]"}, tensor<64x16xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<16x64xf32>) -> tensor<16x64xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<64x16xf32>) -> tensor<64x16xbf16>
    %2 = stablehlo.convert %arg2 : (tensor<32x16xf32>) -> tensor<32x16xbf16>
    %3 = stablehlo.dot_general %2, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xbf16>, tensor<16x64xbf16>) -> tensor<32x64xbf16>
    %4 = stablehlo.tanh %3 : tensor<32x64xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<32x64xbf16>
    %6 = stablehlo.subtract %5, %4 : tensor<32x64xbf16>
    %7 = stablehlo.dot_general %4, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xbf16>, tensor<64x16xbf16>) -> tensor<32x16xbf16>
    %8 = stablehlo.tanh %7 : tensor<32x16xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<32x16xbf16>
    %10 = stablehlo.subtract %9, %8 : tensor<32x16xbf16>
    %11 = stablehlo.convert %8 : (tensor<32x16xbf16>) -> tensor<32x16xf32>
    %12 = stablehlo.multiply %11, %11 : tensor<32x16xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %14 = stablehlo.multiply %13, %11 : tensor<32x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %16 = stablehlo.divide %15, %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %17 = stablehlo.divide %cst_4, %cst_5 : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %19 = stablehlo.multiply %18, %14 : tensor<32x16xf32>
    %20 = stablehlo.convert %19 : (tensor<32x16xf32>) -> tensor<32x16xbf16>
    %21 = stablehlo.multiply %20, %10 : tensor<32x16xbf16>
    %22 = stablehlo.multiply %21, %8 : tensor<32x16xbf16>
    %23 = stablehlo.add %21, %22 : tensor<32x16xbf16>
    %24 = stablehlo.dot_general %23, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xbf16>, tensor<32x64xbf16>) -> tensor<16x64xbf16>
    %25 = stablehlo.transpose %24, dims = [1, 0] : (tensor<16x64xbf16>) -> tensor<64x16xbf16>
    %26 = stablehlo.dot_general %23, %1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x16xbf16>, tensor<64x16xbf16>) -> tensor<32x64xbf16>
    %27 = stablehlo.multiply %26, %6 : tensor<32x64xbf16>
    %28 = stablehlo.multiply %27, %4 : tensor<32x64xbf16>
    %29 = stablehlo.add %27, %28 : tensor<32x64xbf16>
    %30 = stablehlo.dot_general %29, %2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xbf16>, tensor<32x16xbf16>) -> tensor<64x16xbf16>
    %31 = stablehlo.transpose %30, dims = [1, 0] : (tensor<64x16xbf16>) -> tensor<16x64xbf16>
    %32 = stablehlo.convert %25 : (tensor<64x16xbf16>) -> tensor<64x16xf32>
    %33 = stablehlo.convert %31 : (tensor<16x64xbf16>) -> tensor<16x64xf32>
    return %16, %33, %32 : tensor<f32>, tensor<16x64xf32>, tensor<64x16xf32>
  }
}
