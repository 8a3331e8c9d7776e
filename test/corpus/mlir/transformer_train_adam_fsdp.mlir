module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg1: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg2: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg3: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg5: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg6: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg7: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg8: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg9: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg10: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg11: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg12: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg13: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg14: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg15: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg16: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg17: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg18: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg19: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg20: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg21: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg22: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg23: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg24: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg25: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg26: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg27: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg28: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg29: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg30: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg31: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg32: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg33: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg34: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg35: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg36: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg37: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg38: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg39: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg40: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg41: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg42: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg43: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg44: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg45: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg46: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg47: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg48: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg49: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg50: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg51: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg52: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg53: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg54: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg55: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg56: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, %arg57: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg58: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %arg59: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg60: tensor<8x33xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<256x64xf32> {jax.result_info = "result[0]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<128x64xf32> {jax.result_info = "result[0]['layer0']['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x128xf32> {jax.result_info = "result[0]['layer0']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[0]['layer0']['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[0]['layer0']['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x128xf32> {jax.result_info = "result[0]['layer0']['up']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer0']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer0']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer0']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer0']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<128x64xf32> {jax.result_info = "result[0]['layer1']['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x128xf32> {jax.result_info = "result[0]['layer1']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[0]['layer1']['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[0]['layer1']['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x128xf32> {jax.result_info = "result[0]['layer1']['up']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer1']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer1']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer1']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer1']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[0]['norm']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<256x64xf32> {jax.result_info = "result[1]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<128x64xf32> {jax.result_info = "result[1]['layer0']['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x128xf32> {jax.result_info = "result[1]['layer0']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[1]['layer0']['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[1]['layer0']['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x128xf32> {jax.result_info = "result[1]['layer0']['up']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[1]['layer0']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[1]['layer0']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x64xf32> {jax.result_info = "result[1]['layer0']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[1]['layer0']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<128x64xf32> {jax.result_info = "result[1]['layer1']['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x128xf32> {jax.result_info = "result[1]['layer1']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[1]['layer1']['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[1]['layer1']['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x128xf32> {jax.result_info = "result[1]['layer1']['up']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[1]['layer1']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[1]['layer1']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x64xf32> {jax.result_info = "result[1]['layer1']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[1]['layer1']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[1]['norm']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<256x64xf32> {jax.result_info = "result[2]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<128x64xf32> {jax.result_info = "result[2]['layer0']['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x128xf32> {jax.result_info = "result[2]['layer0']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[2]['layer0']['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[2]['layer0']['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x128xf32> {jax.result_info = "result[2]['layer0']['up']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[2]['layer0']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[2]['layer0']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x64xf32> {jax.result_info = "result[2]['layer0']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[2]['layer0']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<128x64xf32> {jax.result_info = "result[2]['layer1']['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x128xf32> {jax.result_info = "result[2]['layer1']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[2]['layer1']['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[2]['layer1']['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x128xf32> {jax.result_info = "result[2]['layer1']['up']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[2]['layer1']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[2]['layer1']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}, tensor<64x64xf32> {jax.result_info = "result[2]['layer1']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[2]['layer1']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[2]['norm']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = stablehlo.slice %arg60 [0:8, 0:32] : (tensor<8x33xi32>) -> tensor<8x32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x32xi32>
    %2 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<8x32xi32>, tensor<8x32xi32>) -> tensor<8x32xi1>
    %c_0 = stablehlo.constant dense<256> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x32xi32>
    %4 = stablehlo.add %0, %3 : tensor<8x32xi32>
    %5 = stablehlo.select %2, %4, %0 : tensor<8x32xi1>, tensor<8x32xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<8x32xi32>) -> tensor<8x32x1xi32>
    %7 = "stablehlo.gather"(%arg0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64>}> : (tensor<256x64xf32>, tensor<8x32x1xi32>) -> tensor<8x32x64xf32>
    %8 = stablehlo.multiply %7, %7 : tensor<8x32x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<8x32x1xf32>
    %cst_2 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %14 = stablehlo.add %12, %13 : tensor<8x32x1xf32>
    %15 = stablehlo.rsqrt %14 : tensor<8x32x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<8x32x1xf32>
    %cst_3 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %18 = stablehlo.multiply %17, %16 : tensor<8x32x1xf32>
    %19 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %20 = stablehlo.multiply %7, %19 : tensor<8x32x64xf32>
    %21 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %23 = stablehlo.multiply %20, %22 : tensor<8x32x64xf32>
    %24 = stablehlo.dot_general %23, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %25 = stablehlo.reshape %24 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %26 = stablehlo.dot_general %23, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %27 = stablehlo.reshape %26 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %28 = stablehlo.dot_general %23, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %29 = stablehlo.reshape %28 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %30 = stablehlo.dot_general %25, %27, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x32xf32>
    %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x4x32x32xf32>
    %32 = stablehlo.divide %30, %31 : tensor<8x4x32x32xf32>
    %c_5 = stablehlo.constant dense<true> : tensor<i1>
    %33 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %34 = call @tril(%33) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_6 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %35:2 = call @_where(%34, %32, %cst_6) : (tensor<32x32xi1>, tensor<8x4x32x32xf32>, tensor<f32>) -> (tensor<8x4x32x32xf32>, tensor<8x4x32x32xi1>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %36 = stablehlo.reduce(%35#0 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %38 = stablehlo.maximum %37, %36 : tensor<8x4x32xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %41 = stablehlo.subtract %35#0, %40 : tensor<8x4x32x32xf32>
    %42 = stablehlo.exponential %41 : tensor<8x4x32x32xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %46 = stablehlo.divide %42, %45 : tensor<8x4x32x32xf32>
    %47 = stablehlo.multiply %44, %44 : tensor<8x4x32x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x4x32x1xf32>
    %49 = stablehlo.divide %48, %47 : tensor<8x4x32x1xf32>
    %50 = stablehlo.dot_general %29, %46, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x4x32x32xf32>) -> tensor<8x4x16x32xf32>
    %51 = stablehlo.transpose %50, dims = [0, 3, 1, 2] : (tensor<8x4x16x32xf32>) -> tensor<8x32x4x16xf32>
    %52 = stablehlo.reshape %51 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %53 = stablehlo.dot_general %52, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %54 = stablehlo.add %7, %53 : tensor<8x32x64xf32>
    %55 = stablehlo.multiply %54, %54 : tensor<8x32x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.reduce(%55 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_12 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %59 = stablehlo.divide %57, %58 : tensor<8x32x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %61 = stablehlo.add %59, %60 : tensor<8x32x1xf32>
    %62 = stablehlo.rsqrt %61 : tensor<8x32x1xf32>
    %63 = stablehlo.divide %62, %61 : tensor<8x32x1xf32>
    %cst_14 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %65 = stablehlo.multiply %64, %63 : tensor<8x32x1xf32>
    %66 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %67 = stablehlo.multiply %54, %66 : tensor<8x32x64xf32>
    %68 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %70 = stablehlo.multiply %67, %69 : tensor<8x32x64xf32>
    %71 = stablehlo.dot_general %70, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x128xf32>) -> tensor<8x32x128xf32>
    %72:3 = call @silu(%71) : (tensor<8x32x128xf32>) -> (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>)
    %73 = stablehlo.dot_general %70, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x128xf32>) -> tensor<8x32x128xf32>
    %74 = stablehlo.multiply %72#0, %73 : tensor<8x32x128xf32>
    %75 = stablehlo.dot_general %74, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<128x64xf32>) -> tensor<8x32x64xf32>
    %76 = stablehlo.add %54, %75 : tensor<8x32x64xf32>
    %77 = stablehlo.multiply %76, %76 : tensor<8x32x64xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %78 = stablehlo.reduce(%77 init: %cst_15) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_16 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %81 = stablehlo.divide %79, %80 : tensor<8x32x1xf32>
    %cst_17 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %83 = stablehlo.add %81, %82 : tensor<8x32x1xf32>
    %84 = stablehlo.rsqrt %83 : tensor<8x32x1xf32>
    %85 = stablehlo.divide %84, %83 : tensor<8x32x1xf32>
    %cst_18 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<8x32x1xf32>
    %88 = stablehlo.broadcast_in_dim %84, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %89 = stablehlo.multiply %76, %88 : tensor<8x32x64xf32>
    %90 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %92 = stablehlo.multiply %89, %91 : tensor<8x32x64xf32>
    %93 = stablehlo.dot_general %92, %arg17, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %94 = stablehlo.reshape %93 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %95 = stablehlo.dot_general %92, %arg15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %96 = stablehlo.reshape %95 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %97 = stablehlo.dot_general %92, %arg18, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %98 = stablehlo.reshape %97 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %99 = stablehlo.dot_general %94, %96, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x32xf32>
    %cst_19 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x4x32x32xf32>
    %101 = stablehlo.divide %99, %100 : tensor<8x4x32x32xf32>
    %c_20 = stablehlo.constant dense<true> : tensor<i1>
    %102 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %103 = call @tril(%102) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_21 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %104:2 = call @_where(%103, %101, %cst_21) : (tensor<32x32xi1>, tensor<8x4x32x32xf32>, tensor<f32>) -> (tensor<8x4x32x32xf32>, tensor<8x4x32x32xi1>)
    %cst_22 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %105 = stablehlo.reduce(%104#0 init: %cst_22) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %cst_23 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x4x32xf32>
    %107 = stablehlo.maximum %106, %105 : tensor<8x4x32xf32>
    %108 = stablehlo.broadcast_in_dim %107, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %109 = stablehlo.broadcast_in_dim %108, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %110 = stablehlo.subtract %104#0, %109 : tensor<8x4x32x32xf32>
    %111 = stablehlo.exponential %110 : tensor<8x4x32x32xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %112 = stablehlo.reduce(%111 init: %cst_24) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %113 = stablehlo.broadcast_in_dim %112, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %114 = stablehlo.broadcast_in_dim %113, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %115 = stablehlo.divide %111, %114 : tensor<8x4x32x32xf32>
    %116 = stablehlo.multiply %113, %113 : tensor<8x4x32x1xf32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x4x32x1xf32>
    %118 = stablehlo.divide %117, %116 : tensor<8x4x32x1xf32>
    %119 = stablehlo.dot_general %98, %115, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x4x32x32xf32>) -> tensor<8x4x16x32xf32>
    %120 = stablehlo.transpose %119, dims = [0, 3, 1, 2] : (tensor<8x4x16x32xf32>) -> tensor<8x32x4x16xf32>
    %121 = stablehlo.reshape %120 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %122 = stablehlo.dot_general %121, %arg16, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %123 = stablehlo.add %76, %122 : tensor<8x32x64xf32>
    %124 = stablehlo.multiply %123, %123 : tensor<8x32x64xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %125 = stablehlo.reduce(%124 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %126 = stablehlo.broadcast_in_dim %125, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_27 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %128 = stablehlo.divide %126, %127 : tensor<8x32x1xf32>
    %cst_28 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %130 = stablehlo.add %128, %129 : tensor<8x32x1xf32>
    %131 = stablehlo.rsqrt %130 : tensor<8x32x1xf32>
    %132 = stablehlo.divide %131, %130 : tensor<8x32x1xf32>
    %cst_29 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %134 = stablehlo.multiply %133, %132 : tensor<8x32x1xf32>
    %135 = stablehlo.broadcast_in_dim %131, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %136 = stablehlo.multiply %123, %135 : tensor<8x32x64xf32>
    %137 = stablehlo.broadcast_in_dim %arg13, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %139 = stablehlo.multiply %136, %138 : tensor<8x32x64xf32>
    %140 = stablehlo.dot_general %139, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x128xf32>) -> tensor<8x32x128xf32>
    %141:3 = call @silu(%140) : (tensor<8x32x128xf32>) -> (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>)
    %142 = stablehlo.dot_general %139, %arg14, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x128xf32>) -> tensor<8x32x128xf32>
    %143 = stablehlo.multiply %141#0, %142 : tensor<8x32x128xf32>
    %144 = stablehlo.dot_general %143, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<128x64xf32>) -> tensor<8x32x64xf32>
    %145 = stablehlo.add %123, %144 : tensor<8x32x64xf32>
    %146 = stablehlo.multiply %145, %145 : tensor<8x32x64xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.reduce(%146 init: %cst_30) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %148 = stablehlo.broadcast_in_dim %147, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_31 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %149 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %150 = stablehlo.divide %148, %149 : tensor<8x32x1xf32>
    %cst_32 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %152 = stablehlo.add %150, %151 : tensor<8x32x1xf32>
    %153 = stablehlo.rsqrt %152 : tensor<8x32x1xf32>
    %154 = stablehlo.divide %153, %152 : tensor<8x32x1xf32>
    %cst_33 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %156 = stablehlo.multiply %155, %154 : tensor<8x32x1xf32>
    %157 = stablehlo.broadcast_in_dim %153, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %158 = stablehlo.multiply %145, %157 : tensor<8x32x64xf32>
    %159 = stablehlo.broadcast_in_dim %arg19, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %160 = stablehlo.broadcast_in_dim %159, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %161 = stablehlo.multiply %158, %160 : tensor<8x32x64xf32>
    %162 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %163 = stablehlo.dot_general %161, %162, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %164:2 = call @log_softmax(%163) : (tensor<8x32x256xf32>) -> (tensor<8x32x256xf32>, tensor<8x32x1xf32>)
    %165 = stablehlo.slice %arg60 [0:8, 1:33] : (tensor<8x33xi32>) -> tensor<8x32xi32>
    %166 = stablehlo.broadcast_in_dim %165, dims = [0, 1] : (tensor<8x32xi32>) -> tensor<8x32x1xi32>
    %167 = call @take_along_axis(%166) : (tensor<8x32x1xi32>) -> tensor<8x32x1x1xi32>
    %cst_34 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %168 = stablehlo.negate %cst_34 : tensor<f32>
    %cst_35 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %169 = stablehlo.divide %168, %cst_35 : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %169, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %171 = call @take_along_axis_0(%167, %170) : (tensor<8x32x1x1xi32>, tensor<8x32x1xf32>) -> tensor<8x32x256xf32>
    %172 = call @log_softmax_1(%164#0, %164#1, %171) : (tensor<8x32x256xf32>, tensor<8x32x1xf32>, tensor<8x32x256xf32>) -> tensor<8x32x256xf32>
    %173 = stablehlo.dot_general %172, %161, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %174 = stablehlo.transpose %173, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %175 = stablehlo.dot_general %172, %162, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %176 = stablehlo.transpose %174, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %177 = stablehlo.multiply %158, %175 : tensor<8x32x64xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %178 = stablehlo.reduce(%177 init: %cst_36) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %179 = stablehlo.reshape %178 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %180 = stablehlo.broadcast_in_dim %159, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %181 = stablehlo.multiply %175, %180 : tensor<8x32x64xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %182 = stablehlo.reduce(%179 init: %cst_37) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %183 = stablehlo.multiply %145, %181 : tensor<8x32x64xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %184 = stablehlo.reduce(%183 init: %cst_38) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %185 = stablehlo.reshape %184 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %186 = stablehlo.broadcast_in_dim %153, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %187 = stablehlo.multiply %181, %186 : tensor<8x32x64xf32>
    %188 = stablehlo.multiply %185, %156 : tensor<8x32x1xf32>
    %cst_39 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %189 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %190 = stablehlo.divide %188, %189 : tensor<8x32x1xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %191 = stablehlo.reduce(%190 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %192 = stablehlo.broadcast_in_dim %191, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %193 = stablehlo.multiply %145, %192 : tensor<8x32x64xf32>
    %194 = stablehlo.add %187, %193 : tensor<8x32x64xf32>
    %195 = stablehlo.multiply %192, %145 : tensor<8x32x64xf32>
    %196 = stablehlo.add %194, %195 : tensor<8x32x64xf32>
    %197 = stablehlo.dot_general %196, %143, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x128xf32>) -> tensor<64x128xf32>
    %198 = stablehlo.transpose %197, dims = [1, 0] : (tensor<64x128xf32>) -> tensor<128x64xf32>
    %199 = stablehlo.dot_general %196, %arg10, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<128x64xf32>) -> tensor<8x32x128xf32>
    %200 = stablehlo.multiply %141#0, %199 : tensor<8x32x128xf32>
    %201 = stablehlo.multiply %199, %142 : tensor<8x32x128xf32>
    %202 = stablehlo.dot_general %200, %139, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %203 = stablehlo.transpose %202, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %204 = stablehlo.dot_general %200, %arg14, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<64x128xf32>) -> tensor<8x32x64xf32>
    %205 = call @silu_2(%141#1, %141#2, %140, %201) : (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>) -> tensor<8x32x128xf32>
    %206 = stablehlo.dot_general %205, %139, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %207 = stablehlo.transpose %206, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %208 = stablehlo.dot_general %205, %arg11, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<64x128xf32>) -> tensor<8x32x64xf32>
    %209 = stablehlo.add %204, %208 : tensor<8x32x64xf32>
    %210 = stablehlo.multiply %136, %209 : tensor<8x32x64xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %211 = stablehlo.reduce(%210 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %212 = stablehlo.reshape %211 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %213 = stablehlo.broadcast_in_dim %137, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %214 = stablehlo.multiply %209, %213 : tensor<8x32x64xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %215 = stablehlo.reduce(%212 init: %cst_42) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %216 = stablehlo.multiply %123, %214 : tensor<8x32x64xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %217 = stablehlo.reduce(%216 init: %cst_43) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %218 = stablehlo.reshape %217 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %219 = stablehlo.broadcast_in_dim %131, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %220 = stablehlo.multiply %214, %219 : tensor<8x32x64xf32>
    %221 = stablehlo.add %196, %220 : tensor<8x32x64xf32>
    %222 = stablehlo.multiply %218, %134 : tensor<8x32x1xf32>
    %cst_44 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %224 = stablehlo.divide %222, %223 : tensor<8x32x1xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %225 = stablehlo.reduce(%224 init: %cst_45) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %226 = stablehlo.broadcast_in_dim %225, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %227 = stablehlo.multiply %123, %226 : tensor<8x32x64xf32>
    %228 = stablehlo.add %221, %227 : tensor<8x32x64xf32>
    %229 = stablehlo.multiply %226, %123 : tensor<8x32x64xf32>
    %230 = stablehlo.add %228, %229 : tensor<8x32x64xf32>
    %231 = stablehlo.dot_general %230, %121, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %232 = stablehlo.transpose %231, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %233 = stablehlo.dot_general %230, %arg16, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %234 = stablehlo.reshape %233 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %235 = stablehlo.transpose %234, dims = [0, 2, 3, 1] : (tensor<8x32x4x16xf32>) -> tensor<8x4x16x32xf32>
    %236 = stablehlo.dot_general %235, %98, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x32xf32>
    %237 = stablehlo.dot_general %235, %115, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x4x32x32xf32>) -> tensor<8x4x16x32xf32>
    %238 = stablehlo.transpose %237, dims = [0, 3, 1, 2] : (tensor<8x4x16x32xf32>) -> tensor<8x32x4x16xf32>
    %239 = stablehlo.broadcast_in_dim %118, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %240 = stablehlo.multiply %236, %239 : tensor<8x4x32x32xf32>
    %241 = stablehlo.multiply %240, %111 : tensor<8x4x32x32xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %242 = stablehlo.reduce(%241 init: %cst_46) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %243 = stablehlo.reshape %242 : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %244 = stablehlo.negate %243 : tensor<8x4x32x1xf32>
    %245 = stablehlo.broadcast_in_dim %113, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %246 = stablehlo.divide %236, %245 : tensor<8x4x32x32xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %247 = stablehlo.reduce(%244 init: %cst_47) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x1xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %248 = stablehlo.broadcast_in_dim %247, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x32xf32>
    %249 = stablehlo.add %246, %248 : tensor<8x4x32x32xf32>
    %250 = stablehlo.multiply %249, %111 : tensor<8x4x32x32xf32>
    %251 = call @_where_3(%104#1, %250) : (tensor<8x4x32x32xi1>, tensor<8x4x32x32xf32>) -> tensor<8x4x32x32xf32>
    %cst_48 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<8x4x32x32xf32>
    %253 = stablehlo.divide %251, %252 : tensor<8x4x32x32xf32>
    %254 = stablehlo.dot_general %253, %94, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %255 = stablehlo.transpose %254, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %256 = stablehlo.dot_general %253, %96, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %257 = stablehlo.transpose %256, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %258 = stablehlo.reshape %238 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %259 = stablehlo.dot_general %258, %92, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %260 = stablehlo.transpose %259, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %261 = stablehlo.dot_general %258, %arg18, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %262 = stablehlo.reshape %255 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %263 = stablehlo.dot_general %262, %92, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %264 = stablehlo.transpose %263, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %265 = stablehlo.dot_general %262, %arg15, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %266 = stablehlo.add %261, %265 : tensor<8x32x64xf32>
    %267 = stablehlo.reshape %257 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %268 = stablehlo.dot_general %267, %92, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %269 = stablehlo.transpose %268, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %270 = stablehlo.dot_general %267, %arg17, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %271 = stablehlo.add %266, %270 : tensor<8x32x64xf32>
    %272 = stablehlo.multiply %89, %271 : tensor<8x32x64xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %273 = stablehlo.reduce(%272 init: %cst_49) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %274 = stablehlo.reshape %273 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %275 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %276 = stablehlo.multiply %271, %275 : tensor<8x32x64xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %277 = stablehlo.reduce(%274 init: %cst_50) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %278 = stablehlo.multiply %76, %276 : tensor<8x32x64xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %279 = stablehlo.reduce(%278 init: %cst_51) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %280 = stablehlo.reshape %279 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %281 = stablehlo.broadcast_in_dim %84, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %282 = stablehlo.multiply %276, %281 : tensor<8x32x64xf32>
    %283 = stablehlo.add %230, %282 : tensor<8x32x64xf32>
    %284 = stablehlo.multiply %280, %87 : tensor<8x32x1xf32>
    %cst_52 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %286 = stablehlo.divide %284, %285 : tensor<8x32x1xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %287 = stablehlo.reduce(%286 init: %cst_53) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %288 = stablehlo.broadcast_in_dim %287, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %289 = stablehlo.multiply %76, %288 : tensor<8x32x64xf32>
    %290 = stablehlo.add %283, %289 : tensor<8x32x64xf32>
    %291 = stablehlo.multiply %288, %76 : tensor<8x32x64xf32>
    %292 = stablehlo.add %290, %291 : tensor<8x32x64xf32>
    %293 = stablehlo.dot_general %292, %74, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x128xf32>) -> tensor<64x128xf32>
    %294 = stablehlo.transpose %293, dims = [1, 0] : (tensor<64x128xf32>) -> tensor<128x64xf32>
    %295 = stablehlo.dot_general %292, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<128x64xf32>) -> tensor<8x32x128xf32>
    %296 = stablehlo.multiply %72#0, %295 : tensor<8x32x128xf32>
    %297 = stablehlo.multiply %295, %73 : tensor<8x32x128xf32>
    %298 = stablehlo.dot_general %296, %70, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %299 = stablehlo.transpose %298, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %300 = stablehlo.dot_general %296, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<64x128xf32>) -> tensor<8x32x64xf32>
    %301 = call @silu_2(%72#1, %72#2, %71, %297) : (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>) -> tensor<8x32x128xf32>
    %302 = stablehlo.dot_general %301, %70, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %303 = stablehlo.transpose %302, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %304 = stablehlo.dot_general %301, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<64x128xf32>) -> tensor<8x32x64xf32>
    %305 = stablehlo.add %300, %304 : tensor<8x32x64xf32>
    %306 = stablehlo.multiply %67, %305 : tensor<8x32x64xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %307 = stablehlo.reduce(%306 init: %cst_54) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %308 = stablehlo.reshape %307 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %309 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %310 = stablehlo.multiply %305, %309 : tensor<8x32x64xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %311 = stablehlo.reduce(%308 init: %cst_55) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %312 = stablehlo.multiply %54, %310 : tensor<8x32x64xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %313 = stablehlo.reduce(%312 init: %cst_56) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %314 = stablehlo.reshape %313 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %315 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %316 = stablehlo.multiply %310, %315 : tensor<8x32x64xf32>
    %317 = stablehlo.add %292, %316 : tensor<8x32x64xf32>
    %318 = stablehlo.multiply %314, %65 : tensor<8x32x1xf32>
    %cst_57 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %319 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %320 = stablehlo.divide %318, %319 : tensor<8x32x1xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %321 = stablehlo.reduce(%320 init: %cst_58) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %322 = stablehlo.broadcast_in_dim %321, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %323 = stablehlo.multiply %54, %322 : tensor<8x32x64xf32>
    %324 = stablehlo.add %317, %323 : tensor<8x32x64xf32>
    %325 = stablehlo.multiply %322, %54 : tensor<8x32x64xf32>
    %326 = stablehlo.add %324, %325 : tensor<8x32x64xf32>
    %327 = stablehlo.dot_general %326, %52, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %328 = stablehlo.transpose %327, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %329 = stablehlo.dot_general %326, %arg7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %330 = stablehlo.reshape %329 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %331 = stablehlo.transpose %330, dims = [0, 2, 3, 1] : (tensor<8x32x4x16xf32>) -> tensor<8x4x16x32xf32>
    %332 = stablehlo.dot_general %331, %29, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x32xf32>
    %333 = stablehlo.dot_general %331, %46, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x4x32x32xf32>) -> tensor<8x4x16x32xf32>
    %334 = stablehlo.transpose %333, dims = [0, 3, 1, 2] : (tensor<8x4x16x32xf32>) -> tensor<8x32x4x16xf32>
    %335 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %336 = stablehlo.multiply %332, %335 : tensor<8x4x32x32xf32>
    %337 = stablehlo.multiply %336, %42 : tensor<8x4x32x32xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %338 = stablehlo.reduce(%337 init: %cst_59) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %339 = stablehlo.reshape %338 : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %340 = stablehlo.negate %339 : tensor<8x4x32x1xf32>
    %341 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %342 = stablehlo.divide %332, %341 : tensor<8x4x32x32xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %343 = stablehlo.reduce(%340 init: %cst_60) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x1xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %344 = stablehlo.broadcast_in_dim %343, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x32xf32>
    %345 = stablehlo.add %342, %344 : tensor<8x4x32x32xf32>
    %346 = stablehlo.multiply %345, %42 : tensor<8x4x32x32xf32>
    %347 = call @_where_3(%35#1, %346) : (tensor<8x4x32x32xi1>, tensor<8x4x32x32xf32>) -> tensor<8x4x32x32xf32>
    %cst_61 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %348 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<8x4x32x32xf32>
    %349 = stablehlo.divide %347, %348 : tensor<8x4x32x32xf32>
    %350 = stablehlo.dot_general %349, %25, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %351 = stablehlo.transpose %350, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %352 = stablehlo.dot_general %349, %27, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %353 = stablehlo.transpose %352, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %354 = stablehlo.reshape %334 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %355 = stablehlo.dot_general %354, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %356 = stablehlo.transpose %355, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %357 = stablehlo.dot_general %354, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %358 = stablehlo.reshape %351 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %359 = stablehlo.dot_general %358, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %360 = stablehlo.transpose %359, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %361 = stablehlo.dot_general %358, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %362 = stablehlo.add %357, %361 : tensor<8x32x64xf32>
    %363 = stablehlo.reshape %353 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %364 = stablehlo.dot_general %363, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %365 = stablehlo.transpose %364, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %366 = stablehlo.dot_general %363, %arg8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %367 = stablehlo.add %362, %366 : tensor<8x32x64xf32>
    %368 = stablehlo.multiply %20, %367 : tensor<8x32x64xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %369 = stablehlo.reduce(%368 init: %cst_62) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %370 = stablehlo.reshape %369 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %371 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %372 = stablehlo.multiply %367, %371 : tensor<8x32x64xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %373 = stablehlo.reduce(%370 init: %cst_63) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %374 = stablehlo.multiply %7, %372 : tensor<8x32x64xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %375 = stablehlo.reduce(%374 init: %cst_64) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %376 = stablehlo.reshape %375 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %377 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %378 = stablehlo.multiply %372, %377 : tensor<8x32x64xf32>
    %379 = stablehlo.add %326, %378 : tensor<8x32x64xf32>
    %380 = stablehlo.multiply %376, %18 : tensor<8x32x1xf32>
    %cst_65 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %381 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %382 = stablehlo.divide %380, %381 : tensor<8x32x1xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %383 = stablehlo.reduce(%382 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %384 = stablehlo.broadcast_in_dim %383, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %385 = stablehlo.multiply %7, %384 : tensor<8x32x64xf32>
    %386 = stablehlo.add %379, %385 : tensor<8x32x64xf32>
    %387 = stablehlo.multiply %384, %7 : tensor<8x32x64xf32>
    %388 = stablehlo.add %386, %387 : tensor<8x32x64xf32>
    %cst_67 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %389 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %390 = "stablehlo.scatter"(%389, %6, %388) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg61: tensor<f32>, %arg62: tensor<f32>):
      %752 = stablehlo.add %arg61, %arg62 : tensor<f32>
      stablehlo.return %752 : tensor<f32>
    }) : (tensor<256x64xf32>, tensor<8x32x1xi32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %391 = stablehlo.add %176, %390 : tensor<256x64xf32>
    %cst_68 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %392 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %393 = stablehlo.multiply %392, %arg20 : tensor<256x64xf32>
    %cst_69 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %394 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %395 = stablehlo.multiply %394, %391 : tensor<256x64xf32>
    %396 = stablehlo.add %393, %395 : tensor<256x64xf32>
    %cst_70 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %397 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %398 = stablehlo.multiply %397, %arg21 : tensor<128x64xf32>
    %cst_71 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %399 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %400 = stablehlo.multiply %399, %294 : tensor<128x64xf32>
    %401 = stablehlo.add %398, %400 : tensor<128x64xf32>
    %cst_72 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %402 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %403 = stablehlo.multiply %402, %arg22 : tensor<64x128xf32>
    %cst_73 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %404 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %405 = stablehlo.multiply %404, %303 : tensor<64x128xf32>
    %406 = stablehlo.add %403, %405 : tensor<64x128xf32>
    %cst_74 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %407 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %408 = stablehlo.multiply %407, %arg23 : tensor<64xf32>
    %cst_75 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %409 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %410 = stablehlo.multiply %409, %373 : tensor<64xf32>
    %411 = stablehlo.add %408, %410 : tensor<64xf32>
    %cst_76 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %412 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %413 = stablehlo.multiply %412, %arg24 : tensor<64xf32>
    %cst_77 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %414 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %415 = stablehlo.multiply %414, %311 : tensor<64xf32>
    %416 = stablehlo.add %413, %415 : tensor<64xf32>
    %cst_78 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %417 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %418 = stablehlo.multiply %417, %arg25 : tensor<64x128xf32>
    %cst_79 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %419 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %420 = stablehlo.multiply %419, %299 : tensor<64x128xf32>
    %421 = stablehlo.add %418, %420 : tensor<64x128xf32>
    %cst_80 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %422 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %423 = stablehlo.multiply %422, %arg26 : tensor<64x64xf32>
    %cst_81 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %424 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %425 = stablehlo.multiply %424, %360 : tensor<64x64xf32>
    %426 = stablehlo.add %423, %425 : tensor<64x64xf32>
    %cst_82 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %427 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %428 = stablehlo.multiply %427, %arg27 : tensor<64x64xf32>
    %cst_83 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %429 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %430 = stablehlo.multiply %429, %328 : tensor<64x64xf32>
    %431 = stablehlo.add %428, %430 : tensor<64x64xf32>
    %cst_84 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %432 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %433 = stablehlo.multiply %432, %arg28 : tensor<64x64xf32>
    %cst_85 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %434 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %435 = stablehlo.multiply %434, %365 : tensor<64x64xf32>
    %436 = stablehlo.add %433, %435 : tensor<64x64xf32>
    %cst_86 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %437 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %438 = stablehlo.multiply %437, %arg29 : tensor<64x64xf32>
    %cst_87 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %439 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %440 = stablehlo.multiply %439, %356 : tensor<64x64xf32>
    %441 = stablehlo.add %438, %440 : tensor<64x64xf32>
    %cst_88 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %442 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %443 = stablehlo.multiply %442, %arg30 : tensor<128x64xf32>
    %cst_89 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %444 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %445 = stablehlo.multiply %444, %198 : tensor<128x64xf32>
    %446 = stablehlo.add %443, %445 : tensor<128x64xf32>
    %cst_90 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %447 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %448 = stablehlo.multiply %447, %arg31 : tensor<64x128xf32>
    %cst_91 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %449 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %450 = stablehlo.multiply %449, %207 : tensor<64x128xf32>
    %451 = stablehlo.add %448, %450 : tensor<64x128xf32>
    %cst_92 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %452 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %453 = stablehlo.multiply %452, %arg32 : tensor<64xf32>
    %cst_93 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %454 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %455 = stablehlo.multiply %454, %277 : tensor<64xf32>
    %456 = stablehlo.add %453, %455 : tensor<64xf32>
    %cst_94 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %457 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %458 = stablehlo.multiply %457, %arg33 : tensor<64xf32>
    %cst_95 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %459 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %460 = stablehlo.multiply %459, %215 : tensor<64xf32>
    %461 = stablehlo.add %458, %460 : tensor<64xf32>
    %cst_96 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %462 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %463 = stablehlo.multiply %462, %arg34 : tensor<64x128xf32>
    %cst_97 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %464 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %465 = stablehlo.multiply %464, %203 : tensor<64x128xf32>
    %466 = stablehlo.add %463, %465 : tensor<64x128xf32>
    %cst_98 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %467 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %468 = stablehlo.multiply %467, %arg35 : tensor<64x64xf32>
    %cst_99 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %469 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %470 = stablehlo.multiply %469, %264 : tensor<64x64xf32>
    %471 = stablehlo.add %468, %470 : tensor<64x64xf32>
    %cst_100 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %472 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %473 = stablehlo.multiply %472, %arg36 : tensor<64x64xf32>
    %cst_101 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %474 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %475 = stablehlo.multiply %474, %232 : tensor<64x64xf32>
    %476 = stablehlo.add %473, %475 : tensor<64x64xf32>
    %cst_102 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %477 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %478 = stablehlo.multiply %477, %arg37 : tensor<64x64xf32>
    %cst_103 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %479 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %480 = stablehlo.multiply %479, %269 : tensor<64x64xf32>
    %481 = stablehlo.add %478, %480 : tensor<64x64xf32>
    %cst_104 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %482 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %483 = stablehlo.multiply %482, %arg38 : tensor<64x64xf32>
    %cst_105 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %484 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %485 = stablehlo.multiply %484, %260 : tensor<64x64xf32>
    %486 = stablehlo.add %483, %485 : tensor<64x64xf32>
    %cst_106 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %487 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %488 = stablehlo.multiply %487, %arg39 : tensor<64xf32>
    %cst_107 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %489 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %490 = stablehlo.multiply %489, %182 : tensor<64xf32>
    %491 = stablehlo.add %488, %490 : tensor<64xf32>
    %cst_108 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %492 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %493 = stablehlo.multiply %492, %arg40 : tensor<256x64xf32>
    %cst_109 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %494 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %495 = stablehlo.multiply %494, %391 : tensor<256x64xf32>
    %496 = stablehlo.multiply %495, %391 : tensor<256x64xf32>
    %497 = stablehlo.add %493, %496 : tensor<256x64xf32>
    %cst_110 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %498 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %499 = stablehlo.multiply %498, %arg41 : tensor<128x64xf32>
    %cst_111 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %500 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %501 = stablehlo.multiply %500, %294 : tensor<128x64xf32>
    %502 = stablehlo.multiply %501, %294 : tensor<128x64xf32>
    %503 = stablehlo.add %499, %502 : tensor<128x64xf32>
    %cst_112 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %504 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %505 = stablehlo.multiply %504, %arg42 : tensor<64x128xf32>
    %cst_113 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %506 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %507 = stablehlo.multiply %506, %303 : tensor<64x128xf32>
    %508 = stablehlo.multiply %507, %303 : tensor<64x128xf32>
    %509 = stablehlo.add %505, %508 : tensor<64x128xf32>
    %cst_114 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %510 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %511 = stablehlo.multiply %510, %arg43 : tensor<64xf32>
    %cst_115 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %512 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %513 = stablehlo.multiply %512, %373 : tensor<64xf32>
    %514 = stablehlo.multiply %513, %373 : tensor<64xf32>
    %515 = stablehlo.add %511, %514 : tensor<64xf32>
    %cst_116 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %516 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %517 = stablehlo.multiply %516, %arg44 : tensor<64xf32>
    %cst_117 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %518 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %519 = stablehlo.multiply %518, %311 : tensor<64xf32>
    %520 = stablehlo.multiply %519, %311 : tensor<64xf32>
    %521 = stablehlo.add %517, %520 : tensor<64xf32>
    %cst_118 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %522 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %523 = stablehlo.multiply %522, %arg45 : tensor<64x128xf32>
    %cst_119 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %524 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %525 = stablehlo.multiply %524, %299 : tensor<64x128xf32>
    %526 = stablehlo.multiply %525, %299 : tensor<64x128xf32>
    %527 = stablehlo.add %523, %526 : tensor<64x128xf32>
    %cst_120 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %528 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %529 = stablehlo.multiply %528, %arg46 : tensor<64x64xf32>
    %cst_121 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %530 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %531 = stablehlo.multiply %530, %360 : tensor<64x64xf32>
    %532 = stablehlo.multiply %531, %360 : tensor<64x64xf32>
    %533 = stablehlo.add %529, %532 : tensor<64x64xf32>
    %cst_122 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %534 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %535 = stablehlo.multiply %534, %arg47 : tensor<64x64xf32>
    %cst_123 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %536 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %537 = stablehlo.multiply %536, %328 : tensor<64x64xf32>
    %538 = stablehlo.multiply %537, %328 : tensor<64x64xf32>
    %539 = stablehlo.add %535, %538 : tensor<64x64xf32>
    %cst_124 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %540 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %541 = stablehlo.multiply %540, %arg48 : tensor<64x64xf32>
    %cst_125 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %542 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %543 = stablehlo.multiply %542, %365 : tensor<64x64xf32>
    %544 = stablehlo.multiply %543, %365 : tensor<64x64xf32>
    %545 = stablehlo.add %541, %544 : tensor<64x64xf32>
    %cst_126 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %546 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %547 = stablehlo.multiply %546, %arg49 : tensor<64x64xf32>
    %cst_127 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %548 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %549 = stablehlo.multiply %548, %356 : tensor<64x64xf32>
    %550 = stablehlo.multiply %549, %356 : tensor<64x64xf32>
    %551 = stablehlo.add %547, %550 : tensor<64x64xf32>
    %cst_128 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %552 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %553 = stablehlo.multiply %552, %arg50 : tensor<128x64xf32>
    %cst_129 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %554 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %555 = stablehlo.multiply %554, %198 : tensor<128x64xf32>
    %556 = stablehlo.multiply %555, %198 : tensor<128x64xf32>
    %557 = stablehlo.add %553, %556 : tensor<128x64xf32>
    %cst_130 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %558 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %559 = stablehlo.multiply %558, %arg51 : tensor<64x128xf32>
    %cst_131 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %560 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %561 = stablehlo.multiply %560, %207 : tensor<64x128xf32>
    %562 = stablehlo.multiply %561, %207 : tensor<64x128xf32>
    %563 = stablehlo.add %559, %562 : tensor<64x128xf32>
    %cst_132 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %564 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %565 = stablehlo.multiply %564, %arg52 : tensor<64xf32>
    %cst_133 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %566 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %567 = stablehlo.multiply %566, %277 : tensor<64xf32>
    %568 = stablehlo.multiply %567, %277 : tensor<64xf32>
    %569 = stablehlo.add %565, %568 : tensor<64xf32>
    %cst_134 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %570 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %571 = stablehlo.multiply %570, %arg53 : tensor<64xf32>
    %cst_135 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %572 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %573 = stablehlo.multiply %572, %215 : tensor<64xf32>
    %574 = stablehlo.multiply %573, %215 : tensor<64xf32>
    %575 = stablehlo.add %571, %574 : tensor<64xf32>
    %cst_136 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %576 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %577 = stablehlo.multiply %576, %arg54 : tensor<64x128xf32>
    %cst_137 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %578 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %579 = stablehlo.multiply %578, %203 : tensor<64x128xf32>
    %580 = stablehlo.multiply %579, %203 : tensor<64x128xf32>
    %581 = stablehlo.add %577, %580 : tensor<64x128xf32>
    %cst_138 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %582 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %583 = stablehlo.multiply %582, %arg55 : tensor<64x64xf32>
    %cst_139 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %584 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %585 = stablehlo.multiply %584, %264 : tensor<64x64xf32>
    %586 = stablehlo.multiply %585, %264 : tensor<64x64xf32>
    %587 = stablehlo.add %583, %586 : tensor<64x64xf32>
    %cst_140 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %588 = stablehlo.broadcast_in_dim %cst_140, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %589 = stablehlo.multiply %588, %arg56 : tensor<64x64xf32>
    %cst_141 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %590 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %591 = stablehlo.multiply %590, %232 : tensor<64x64xf32>
    %592 = stablehlo.multiply %591, %232 : tensor<64x64xf32>
    %593 = stablehlo.add %589, %592 : tensor<64x64xf32>
    %cst_142 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %594 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %595 = stablehlo.multiply %594, %arg57 : tensor<64x64xf32>
    %cst_143 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %596 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %597 = stablehlo.multiply %596, %269 : tensor<64x64xf32>
    %598 = stablehlo.multiply %597, %269 : tensor<64x64xf32>
    %599 = stablehlo.add %595, %598 : tensor<64x64xf32>
    %cst_144 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %600 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %601 = stablehlo.multiply %600, %arg58 : tensor<64x64xf32>
    %cst_145 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %602 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %603 = stablehlo.multiply %602, %260 : tensor<64x64xf32>
    %604 = stablehlo.multiply %603, %260 : tensor<64x64xf32>
    %605 = stablehlo.add %601, %604 : tensor<64x64xf32>
    %cst_146 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %606 = stablehlo.broadcast_in_dim %cst_146, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %607 = stablehlo.multiply %606, %arg59 : tensor<64xf32>
    %cst_147 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %608 = stablehlo.broadcast_in_dim %cst_147, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %609 = stablehlo.multiply %608, %182 : tensor<64xf32>
    %610 = stablehlo.multiply %609, %182 : tensor<64xf32>
    %611 = stablehlo.add %607, %610 : tensor<64xf32>
    %cst_148 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %612 = stablehlo.broadcast_in_dim %cst_148, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %613 = stablehlo.multiply %612, %396 : tensor<256x64xf32>
    %614 = stablehlo.sqrt %497 : tensor<256x64xf32>
    %cst_149 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %615 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %616 = stablehlo.add %614, %615 : tensor<256x64xf32>
    %617 = stablehlo.divide %613, %616 : tensor<256x64xf32>
    %618 = stablehlo.subtract %arg0, %617 : tensor<256x64xf32>
    %cst_150 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %619 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %620 = stablehlo.multiply %619, %401 : tensor<128x64xf32>
    %621 = stablehlo.sqrt %503 : tensor<128x64xf32>
    %cst_151 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %622 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %623 = stablehlo.add %621, %622 : tensor<128x64xf32>
    %624 = stablehlo.divide %620, %623 : tensor<128x64xf32>
    %625 = stablehlo.subtract %arg1, %624 : tensor<128x64xf32>
    %cst_152 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %626 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %627 = stablehlo.multiply %626, %406 : tensor<64x128xf32>
    %628 = stablehlo.sqrt %509 : tensor<64x128xf32>
    %cst_153 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %629 = stablehlo.broadcast_in_dim %cst_153, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %630 = stablehlo.add %628, %629 : tensor<64x128xf32>
    %631 = stablehlo.divide %627, %630 : tensor<64x128xf32>
    %632 = stablehlo.subtract %arg2, %631 : tensor<64x128xf32>
    %cst_154 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %633 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %634 = stablehlo.multiply %633, %411 : tensor<64xf32>
    %635 = stablehlo.sqrt %515 : tensor<64xf32>
    %cst_155 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %636 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %637 = stablehlo.add %635, %636 : tensor<64xf32>
    %638 = stablehlo.divide %634, %637 : tensor<64xf32>
    %639 = stablehlo.subtract %arg3, %638 : tensor<64xf32>
    %cst_156 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %640 = stablehlo.broadcast_in_dim %cst_156, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %641 = stablehlo.multiply %640, %416 : tensor<64xf32>
    %642 = stablehlo.sqrt %521 : tensor<64xf32>
    %cst_157 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %643 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %644 = stablehlo.add %642, %643 : tensor<64xf32>
    %645 = stablehlo.divide %641, %644 : tensor<64xf32>
    %646 = stablehlo.subtract %arg4, %645 : tensor<64xf32>
    %cst_158 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %647 = stablehlo.broadcast_in_dim %cst_158, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %648 = stablehlo.multiply %647, %421 : tensor<64x128xf32>
    %649 = stablehlo.sqrt %527 : tensor<64x128xf32>
    %cst_159 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %650 = stablehlo.broadcast_in_dim %cst_159, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %651 = stablehlo.add %649, %650 : tensor<64x128xf32>
    %652 = stablehlo.divide %648, %651 : tensor<64x128xf32>
    %653 = stablehlo.subtract %arg5, %652 : tensor<64x128xf32>
    %cst_160 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %654 = stablehlo.broadcast_in_dim %cst_160, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %655 = stablehlo.multiply %654, %426 : tensor<64x64xf32>
    %656 = stablehlo.sqrt %533 : tensor<64x64xf32>
    %cst_161 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %657 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %658 = stablehlo.add %656, %657 : tensor<64x64xf32>
    %659 = stablehlo.divide %655, %658 : tensor<64x64xf32>
    %660 = stablehlo.subtract %arg6, %659 : tensor<64x64xf32>
    %cst_162 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %661 = stablehlo.broadcast_in_dim %cst_162, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %662 = stablehlo.multiply %661, %431 : tensor<64x64xf32>
    %663 = stablehlo.sqrt %539 : tensor<64x64xf32>
    %cst_163 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %664 = stablehlo.broadcast_in_dim %cst_163, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %665 = stablehlo.add %663, %664 : tensor<64x64xf32>
    %666 = stablehlo.divide %662, %665 : tensor<64x64xf32>
    %667 = stablehlo.subtract %arg7, %666 : tensor<64x64xf32>
    %cst_164 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %668 = stablehlo.broadcast_in_dim %cst_164, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %669 = stablehlo.multiply %668, %436 : tensor<64x64xf32>
    %670 = stablehlo.sqrt %545 : tensor<64x64xf32>
    %cst_165 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %671 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %672 = stablehlo.add %670, %671 : tensor<64x64xf32>
    %673 = stablehlo.divide %669, %672 : tensor<64x64xf32>
    %674 = stablehlo.subtract %arg8, %673 : tensor<64x64xf32>
    %cst_166 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %675 = stablehlo.broadcast_in_dim %cst_166, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %676 = stablehlo.multiply %675, %441 : tensor<64x64xf32>
    %677 = stablehlo.sqrt %551 : tensor<64x64xf32>
    %cst_167 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %678 = stablehlo.broadcast_in_dim %cst_167, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %679 = stablehlo.add %677, %678 : tensor<64x64xf32>
    %680 = stablehlo.divide %676, %679 : tensor<64x64xf32>
    %681 = stablehlo.subtract %arg9, %680 : tensor<64x64xf32>
    %cst_168 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %682 = stablehlo.broadcast_in_dim %cst_168, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %683 = stablehlo.multiply %682, %446 : tensor<128x64xf32>
    %684 = stablehlo.sqrt %557 : tensor<128x64xf32>
    %cst_169 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %685 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %686 = stablehlo.add %684, %685 : tensor<128x64xf32>
    %687 = stablehlo.divide %683, %686 : tensor<128x64xf32>
    %688 = stablehlo.subtract %arg10, %687 : tensor<128x64xf32>
    %cst_170 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %689 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %690 = stablehlo.multiply %689, %451 : tensor<64x128xf32>
    %691 = stablehlo.sqrt %563 : tensor<64x128xf32>
    %cst_171 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %692 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %693 = stablehlo.add %691, %692 : tensor<64x128xf32>
    %694 = stablehlo.divide %690, %693 : tensor<64x128xf32>
    %695 = stablehlo.subtract %arg11, %694 : tensor<64x128xf32>
    %cst_172 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %696 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %697 = stablehlo.multiply %696, %456 : tensor<64xf32>
    %698 = stablehlo.sqrt %569 : tensor<64xf32>
    %cst_173 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %699 = stablehlo.broadcast_in_dim %cst_173, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %700 = stablehlo.add %698, %699 : tensor<64xf32>
    %701 = stablehlo.divide %697, %700 : tensor<64xf32>
    %702 = stablehlo.subtract %arg12, %701 : tensor<64xf32>
    %cst_174 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %703 = stablehlo.broadcast_in_dim %cst_174, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %704 = stablehlo.multiply %703, %461 : tensor<64xf32>
    %705 = stablehlo.sqrt %575 : tensor<64xf32>
    %cst_175 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %706 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %707 = stablehlo.add %705, %706 : tensor<64xf32>
    %708 = stablehlo.divide %704, %707 : tensor<64xf32>
    %709 = stablehlo.subtract %arg13, %708 : tensor<64xf32>
    %cst_176 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %710 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %711 = stablehlo.multiply %710, %466 : tensor<64x128xf32>
    %712 = stablehlo.sqrt %581 : tensor<64x128xf32>
    %cst_177 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %713 = stablehlo.broadcast_in_dim %cst_177, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %714 = stablehlo.add %712, %713 : tensor<64x128xf32>
    %715 = stablehlo.divide %711, %714 : tensor<64x128xf32>
    %716 = stablehlo.subtract %arg14, %715 : tensor<64x128xf32>
    %cst_178 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %717 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %718 = stablehlo.multiply %717, %471 : tensor<64x64xf32>
    %719 = stablehlo.sqrt %587 : tensor<64x64xf32>
    %cst_179 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %720 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %721 = stablehlo.add %719, %720 : tensor<64x64xf32>
    %722 = stablehlo.divide %718, %721 : tensor<64x64xf32>
    %723 = stablehlo.subtract %arg15, %722 : tensor<64x64xf32>
    %cst_180 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %724 = stablehlo.broadcast_in_dim %cst_180, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %725 = stablehlo.multiply %724, %476 : tensor<64x64xf32>
    %726 = stablehlo.sqrt %593 : tensor<64x64xf32>
    %cst_181 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %727 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %728 = stablehlo.add %726, %727 : tensor<64x64xf32>
    %729 = stablehlo.divide %725, %728 : tensor<64x64xf32>
    %730 = stablehlo.subtract %arg16, %729 : tensor<64x64xf32>
    %cst_182 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %731 = stablehlo.broadcast_in_dim %cst_182, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %732 = stablehlo.multiply %731, %481 : tensor<64x64xf32>
    %733 = stablehlo.sqrt %599 : tensor<64x64xf32>
    %cst_183 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %734 = stablehlo.broadcast_in_dim %cst_183, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %735 = stablehlo.add %733, %734 : tensor<64x64xf32>
    %736 = stablehlo.divide %732, %735 : tensor<64x64xf32>
    %737 = stablehlo.subtract %arg17, %736 : tensor<64x64xf32>
    %cst_184 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %738 = stablehlo.broadcast_in_dim %cst_184, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %739 = stablehlo.multiply %738, %486 : tensor<64x64xf32>
    %740 = stablehlo.sqrt %605 : tensor<64x64xf32>
    %cst_185 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %741 = stablehlo.broadcast_in_dim %cst_185, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %742 = stablehlo.add %740, %741 : tensor<64x64xf32>
    %743 = stablehlo.divide %739, %742 : tensor<64x64xf32>
    %744 = stablehlo.subtract %arg18, %743 : tensor<64x64xf32>
    %cst_186 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %745 = stablehlo.broadcast_in_dim %cst_186, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %746 = stablehlo.multiply %745, %491 : tensor<64xf32>
    %747 = stablehlo.sqrt %611 : tensor<64xf32>
    %cst_187 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %748 = stablehlo.broadcast_in_dim %cst_187, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %749 = stablehlo.add %747, %748 : tensor<64xf32>
    %750 = stablehlo.divide %746, %749 : tensor<64xf32>
    %751 = stablehlo.subtract %arg19, %750 : tensor<64xf32>
    return %618, %625, %632, %639, %646, %653, %660, %667, %674, %681, %688, %695, %702, %709, %716, %723, %730, %737, %744, %751, %396, %401, %406, %411, %416, %421, %426, %431, %436, %441, %446, %451, %456, %461, %466, %471, %476, %481, %486, %491, %497, %503, %509, %515, %521, %527, %533, %539, %545, %551, %557, %563, %569, %575, %581, %587, %593, %599, %605, %611 : tensor<256x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<256x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<256x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>
  }
  func.func private @tril(%arg0: tensor<32x32xi1>) -> tensor<32x32xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<32x32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x32xi32>
    %2 = stablehlo.add %0, %1 : tensor<32x32xi32>
    %3 = stablehlo.iota dim = 1 : tensor<32x32xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<32x32xi1>, tensor<32x32xi1>
    return %6 : tensor<32x32xi1>
  }
  func.func private @_where(%arg0: tensor<32x32xi1>, %arg1: tensor<8x4x32x32xf32>, %arg2: tensor<f32>) -> (tensor<8x4x32x32xf32>, tensor<8x4x32x32xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<32x32xi1>) -> tensor<8x4x32x32xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x32x32xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x32x32xi1>, tensor<8x4x32x32xf32>
    return %3, %1 : tensor<8x4x32x32xf32>, tensor<8x4x32x32xi1>
  }
  func.func private @silu(%arg0: tensor<8x32x128xf32>) -> (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<8x32x128xf32>
    %1 = stablehlo.exponential %0 : tensor<8x32x128xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x32x128xf32>
    %3 = stablehlo.add %2, %1 : tensor<8x32x128xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x32x128xf32>
    %5 = stablehlo.divide %4, %3 : tensor<8x32x128xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x32x128xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<8x32x128xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<8x32x128xf32>
    %9 = stablehlo.multiply %arg0, %5 : tensor<8x32x128xf32>
    return %9, %8, %5 : tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>
  }
  func.func private @log_softmax(%arg0: tensor<8x32x256xf32>) -> (tensor<8x32x256xf32>, tensor<8x32x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<8x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<8x32xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x256xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x32x256xf32>
    %6 = stablehlo.exponential %5 : tensor<8x32x256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<8x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    return %6, %8 : tensor<8x32x256xf32>, tensor<8x32x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x32x1xi32>) -> tensor<8x32x1x1xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x32x1xi32>
    %1 = stablehlo.compare LT, %arg0, %0, SIGNED : (tensor<8x32x1xi32>, tensor<8x32x1xi32>) -> tensor<8x32x1xi1>
    %c_0 = stablehlo.constant dense<256> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x32x1xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<8x32x1xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<8x32x1xi1>, tensor<8x32x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x32x1xi32>) -> tensor<8x32x1x1xi32>
    return %5 : tensor<8x32x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<8x32x1x1xi32>, %arg1: tensor<8x32x1xf32>) -> tensor<8x32x256xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x32x256xf32>, tensor<8x32x1x1xi32>, tensor<8x32x1xf32>) -> tensor<8x32x256xf32>
    return %1 : tensor<8x32x256xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<8x32x256xf32>, %arg1: tensor<8x32x1xf32>, %arg2: tensor<8x32x256xf32>) -> tensor<8x32x256xf32> {
    %0 = stablehlo.negate %arg2 : tensor<8x32x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<8x32x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x256xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<8x32x256xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<8x32x256xf32>
    return %7 : tensor<8x32x256xf32>
  }
  func.func private @silu_2(%arg0: tensor<8x32x128xf32>, %arg1: tensor<8x32x128xf32>, %arg2: tensor<8x32x128xf32>, %arg3: tensor<8x32x128xf32>) -> tensor<8x32x128xf32> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<8x32x128xf32>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<8x32x128xf32>
    %2 = stablehlo.multiply %0, %arg0 : tensor<8x32x128xf32>
    %3 = stablehlo.add %1, %2 : tensor<8x32x128xf32>
    return %3 : tensor<8x32x128xf32>
  }
  func.func private @_where_3(%arg0: tensor<8x4x32x32xi1>, %arg1: tensor<8x4x32x32xf32>) -> tensor<8x4x32x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x32x32xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<8x4x32x32xi1>, tensor<8x4x32x32xf32>
    return %1 : tensor<8x4x32x32xf32>
  }
}
