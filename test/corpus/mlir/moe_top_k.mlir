module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "expert"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "expert", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<8x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}, {}]>}, %arg3: tensor<8x64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}, {}]>}) -> (tensor<64x32xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<64xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<64x8xf32>
    %7 = stablehlo.exponential %6 : tensor<64x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %11 = stablehlo.divide %7, %10 : tensor<64x8xf32>
    %values, %indices = chlo.top_k(%11, k = 2) : tensor<64x8xf32> -> (tensor<64x2xf32>, tensor<64x2xi32>)
    %12 = call @_one_hot(%indices) : (tensor<64x2xi32>) -> tensor<64x2x8xf32>
    %13 = stablehlo.reshape %12 : (tensor<64x2x8xf32>) -> tensor<128x8xf32>
    %14 = call @cumsum(%13) : (tensor<128x8xf32>) -> tensor<128x8xf32>
    %15 = stablehlo.reshape %12 : (tensor<64x2x8xf32>) -> tensor<128x8xf32>
    %16 = stablehlo.multiply %14, %15 : tensor<128x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<128x8xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %19 = stablehlo.subtract %17, %18 : tensor<128xf32>
    %20 = stablehlo.reshape %19 : (tensor<128xf32>) -> tensor<64x2xf32>
    %21 = call @_one_hot_1(%20) : (tensor<64x2xf32>) -> tensor<64x2x16xf32>
    %22 = stablehlo.dot_general %12, %21, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x8xf32>, tensor<64x2x16xf32>) -> tensor<64x8x16xf32>
    %23 = stablehlo.dot_general %values, %12, batching_dims = [0, 1] x [0, 1], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<64x2xf32>, tensor<64x2x8xf32>) -> tensor<64x2x8xf32>
    %24 = stablehlo.dot_general %23, %21, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x8xf32>, tensor<64x2x16xf32>) -> tensor<64x8x16xf32>
    %25 = stablehlo.dot_general %22, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x8x16xf32>, tensor<64x32xf32>) -> tensor<8x16x32xf32>
    %26 = sdy.sharding_constraint %25 <@mesh, [{"expert"}, {}, {}]> : tensor<8x16x32xf32>
    %27 = stablehlo.dot_general %26, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<8x32x64xf32>) -> tensor<8x16x64xf32>
    %28 = call @relu(%27) : (tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
    %29 = stablehlo.dot_general %28, %arg3, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x64x32xf32>) -> tensor<8x16x32xf32>
    %30 = stablehlo.dot_general %24, %29, contracting_dims = [2, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<64x8x16xf32>, tensor<8x16x32xf32>) -> tensor<64x32xf32>
    return %30 : tensor<64x32xf32>
  }
  func.func private @_one_hot(%arg0: tensor<64x2xi32>) -> tensor<64x2x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<64x2xi32>) -> tensor<64x2x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x8xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<64x2x1xi32>) -> tensor<64x2x8xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x8xi32>) -> tensor<64x2x8xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<64x2x8xi32>, tensor<64x2x8xi32>) -> tensor<64x2x8xi1>
    %5 = stablehlo.convert %4 : (tensor<64x2x8xi1>) -> tensor<64x2x8xf32>
    return %5 : tensor<64x2x8xf32>
  }
  func.func private @cumsum(%arg0: tensor<128x8xf32>) -> tensor<128x8xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<128x8xf32>) -> tensor<128x8xf32>
    return %0 : tensor<128x8xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<128x8xf32>) -> tensor<128x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[127, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 128, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<128x8xf32>, tensor<f32>) -> tensor<128x8xf32>
    return %1 : tensor<128x8xf32>
  }
  func.func private @_one_hot_1(%arg0: tensor<64x2xf32>) -> tensor<64x2x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<64x2xf32>) -> tensor<64x2x1xf32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x16xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<64x2x1xf32>) -> tensor<64x2x16xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<64x2x16xf32>
    %4 = stablehlo.compare EQ, %2, %3, FLOAT : (tensor<64x2x16xf32>, tensor<64x2x16xf32>) -> tensor<64x2x16xi1>
    %5 = stablehlo.convert %4 : (tensor<64x2x16xi1>) -> tensor<64x2x16xf32>
    return %5 : tensor<64x2x16xf32>
  }
  func.func private @relu(%arg0: tensor<8x16x64xf32>) -> tensor<8x16x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<8x16x64xf32>
    return %1 : tensor<8x16x64xf32>
  }
}
