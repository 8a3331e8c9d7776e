module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg1: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg3: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg4: tensor<8x32x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}, {}]>}, %arg5: tensor<8x32x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}, {}]>}, %arg6: tensor<8x1x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %arg7: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<8x1x64xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, tensor<8x32x4x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}, {}]>}, tensor<8x32x4x16xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}, {}]>}) {
    %0 = stablehlo.dot_general %arg6, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x1x64xf32>, tensor<64x64xf32>) -> tensor<8x1x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<8x1x64xf32>) -> tensor<8x1x4x16xf32>
    %2 = stablehlo.dot_general %arg6, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x1x64xf32>, tensor<64x64xf32>) -> tensor<8x1x64xf32>
    %3 = stablehlo.reshape %2 : (tensor<8x1x64xf32>) -> tensor<8x1x4x16xf32>
    %4 = stablehlo.dot_general %arg6, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x1x64xf32>, tensor<64x64xf32>) -> tensor<8x1x64xf32>
    %5 = stablehlo.reshape %4 : (tensor<8x1x64xf32>) -> tensor<8x1x4x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg7, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<32> : tensor<i32>
    %7 = stablehlo.add %arg7, %c_0 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg7 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.dynamic_update_slice %arg4, %3, %c_1, %8, %c_2, %c_3 : (tensor<8x32x4x16xf32>, tensor<8x1x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x32x4x16xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.compare LT, %arg7, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<32> : tensor<i32>
    %11 = stablehlo.add %arg7, %c_5 : tensor<i32>
    %12 = stablehlo.select %10, %11, %arg7 : tensor<i1>, tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.dynamic_update_slice %arg5, %5, %c_6, %12, %c_7, %c_8 : (tensor<8x32x4x16xf32>, tensor<8x1x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x32x4x16xf32>
    %14 = stablehlo.dot_general %1, %9, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x1x4x16xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x1x32xf32>
    %15 = stablehlo.iota dim = 0 : tensor<32xi32>
    %16 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %17 = stablehlo.compare LE, %15, %16, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %18 = call @_where(%17, %14, %cst) : (tensor<32xi1>, tensor<8x4x1x32xf32>, tensor<f32>) -> tensor<8x4x1x32xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_9) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x1x32xf32>, tensor<f32>) -> tensor<8x4x1xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x4x1xf32>
    %21 = stablehlo.maximum %20, %19 : tensor<8x4x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<8x4x1xf32>) -> tensor<8x4x1x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<8x4x1x1xf32>) -> tensor<8x4x1x32xf32>
    %24 = stablehlo.subtract %18, %23 : tensor<8x4x1x32xf32>
    %25 = stablehlo.exponential %24 : tensor<8x4x1x32xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<8x4x1x32xf32>, tensor<f32>) -> tensor<8x4x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<8x4x1xf32>) -> tensor<8x4x1x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<8x4x1x1xf32>) -> tensor<8x4x1x32xf32>
    %29 = stablehlo.divide %25, %28 : tensor<8x4x1x32xf32>
    %30 = stablehlo.dot_general %13, %29, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x4x1x32xf32>) -> tensor<8x4x16x1xf32>
    %31 = stablehlo.transpose %30, dims = [0, 3, 1, 2] : (tensor<8x4x16x1xf32>) -> tensor<8x1x4x16xf32>
    %32 = stablehlo.reshape %31 : (tensor<8x1x4x16xf32>) -> tensor<8x1x64xf32>
    %33 = stablehlo.dot_general %32, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x1x64xf32>, tensor<64x64xf32>) -> tensor<8x1x64xf32>
    return %33, %9, %13 : tensor<8x1x64xf32>, tensor<8x32x4x16xf32>, tensor<8x32x4x16xf32>
  }
  func.func private @_where(%arg0: tensor<32xi1>, %arg1: tensor<8x4x1x32xf32>, %arg2: tensor<f32>) -> tensor<8x4x1x32xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3] : (tensor<32xi1>) -> tensor<8x4x1x32xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x1x32xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x1x32xi1>, tensor<8x4x1x32xf32>
    return %3 : tensor<8x4x1x32xf32>
  }
}
