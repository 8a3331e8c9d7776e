module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg2: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg3: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg5: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg6: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg7: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg8: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg9: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg10: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg11: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg12: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg13: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg14: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg15: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg16: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg17: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg18: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg19: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg20: tensor<8x33xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<256x64xf32> {jax.result_info = "result[0]['embedding']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<128x64xf32> {jax.result_info = "result[0]['layer0']['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<64x128xf32> {jax.result_info = "result[0]['layer0']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[0]['layer0']['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[0]['layer0']['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x128xf32> {jax.result_info = "result[0]['layer0']['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer0']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer0']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer0']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer0']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<128x64xf32> {jax.result_info = "result[0]['layer1']['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<64x128xf32> {jax.result_info = "result[0]['layer1']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[0]['layer1']['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[0]['layer1']['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x128xf32> {jax.result_info = "result[0]['layer1']['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer1']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer1']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer1']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x64xf32> {jax.result_info = "result[0]['layer1']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64xf32> {jax.result_info = "result[0]['norm']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.slice %arg20 [0:8, 0:32] : (tensor<8x33xi32>) -> tensor<8x32xi32>
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
    %164:3 = call @log_softmax(%163) : (tensor<8x32x256xf32>) -> (tensor<8x32x256xf32>, tensor<8x32x256xf32>, tensor<8x32x1xf32>)
    %165 = stablehlo.slice %arg20 [0:8, 1:33] : (tensor<8x33xi32>) -> tensor<8x32xi32>
    %166 = stablehlo.broadcast_in_dim %165, dims = [0, 1] : (tensor<8x32xi32>) -> tensor<8x32x1xi32>
    %167:2 = call @take_along_axis(%164#0, %166) : (tensor<8x32x256xf32>, tensor<8x32x1xi32>) -> (tensor<8x32x1xf32>, tensor<8x32x1x1xi32>)
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %168 = stablehlo.reduce(%167#0 init: %cst_34) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_35 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %169 = stablehlo.divide %168, %cst_35 : tensor<f32>
    %170 = stablehlo.negate %169 : tensor<f32>
    %cst_36 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %171 = stablehlo.negate %cst_36 : tensor<f32>
    %cst_37 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %172 = stablehlo.divide %171, %cst_37 : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %172, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %174 = call @take_along_axis_0(%167#1, %173) : (tensor<8x32x1x1xi32>, tensor<8x32x1xf32>) -> tensor<8x32x256xf32>
    %175 = call @log_softmax_1(%164#1, %164#2, %174) : (tensor<8x32x256xf32>, tensor<8x32x1xf32>, tensor<8x32x256xf32>) -> tensor<8x32x256xf32>
    %176 = stablehlo.dot_general %175, %161, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %177 = stablehlo.transpose %176, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %178 = stablehlo.dot_general %175, %162, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %179 = stablehlo.transpose %177, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %180 = stablehlo.multiply %158, %178 : tensor<8x32x64xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %181 = stablehlo.reduce(%180 init: %cst_38) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %182 = stablehlo.reshape %181 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %183 = stablehlo.broadcast_in_dim %159, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %184 = stablehlo.multiply %178, %183 : tensor<8x32x64xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %185 = stablehlo.reduce(%182 init: %cst_39) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %186 = stablehlo.multiply %145, %184 : tensor<8x32x64xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %187 = stablehlo.reduce(%186 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %188 = stablehlo.reshape %187 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %189 = stablehlo.broadcast_in_dim %153, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %190 = stablehlo.multiply %184, %189 : tensor<8x32x64xf32>
    %191 = stablehlo.multiply %188, %156 : tensor<8x32x1xf32>
    %cst_41 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %192 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %193 = stablehlo.divide %191, %192 : tensor<8x32x1xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %194 = stablehlo.reduce(%193 init: %cst_42) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %195 = stablehlo.broadcast_in_dim %194, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %196 = stablehlo.multiply %145, %195 : tensor<8x32x64xf32>
    %197 = stablehlo.add %190, %196 : tensor<8x32x64xf32>
    %198 = stablehlo.multiply %195, %145 : tensor<8x32x64xf32>
    %199 = stablehlo.add %197, %198 : tensor<8x32x64xf32>
    %200 = stablehlo.dot_general %199, %143, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x128xf32>) -> tensor<64x128xf32>
    %201 = stablehlo.transpose %200, dims = [1, 0] : (tensor<64x128xf32>) -> tensor<128x64xf32>
    %202 = stablehlo.dot_general %199, %arg10, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<128x64xf32>) -> tensor<8x32x128xf32>
    %203 = stablehlo.multiply %141#0, %202 : tensor<8x32x128xf32>
    %204 = stablehlo.multiply %202, %142 : tensor<8x32x128xf32>
    %205 = stablehlo.dot_general %203, %139, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %206 = stablehlo.transpose %205, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %207 = stablehlo.dot_general %203, %arg14, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<64x128xf32>) -> tensor<8x32x64xf32>
    %208 = call @silu_2(%141#1, %141#2, %140, %204) : (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>) -> tensor<8x32x128xf32>
    %209 = stablehlo.dot_general %208, %139, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %210 = stablehlo.transpose %209, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %211 = stablehlo.dot_general %208, %arg11, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<64x128xf32>) -> tensor<8x32x64xf32>
    %212 = stablehlo.add %207, %211 : tensor<8x32x64xf32>
    %213 = stablehlo.multiply %136, %212 : tensor<8x32x64xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %214 = stablehlo.reduce(%213 init: %cst_43) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %215 = stablehlo.reshape %214 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %216 = stablehlo.broadcast_in_dim %137, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %217 = stablehlo.multiply %212, %216 : tensor<8x32x64xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %218 = stablehlo.reduce(%215 init: %cst_44) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %219 = stablehlo.multiply %123, %217 : tensor<8x32x64xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %220 = stablehlo.reduce(%219 init: %cst_45) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %221 = stablehlo.reshape %220 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %222 = stablehlo.broadcast_in_dim %131, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %223 = stablehlo.multiply %217, %222 : tensor<8x32x64xf32>
    %224 = stablehlo.add %199, %223 : tensor<8x32x64xf32>
    %225 = stablehlo.multiply %221, %134 : tensor<8x32x1xf32>
    %cst_46 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %227 = stablehlo.divide %225, %226 : tensor<8x32x1xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %228 = stablehlo.reduce(%227 init: %cst_47) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %229 = stablehlo.broadcast_in_dim %228, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %230 = stablehlo.multiply %123, %229 : tensor<8x32x64xf32>
    %231 = stablehlo.add %224, %230 : tensor<8x32x64xf32>
    %232 = stablehlo.multiply %229, %123 : tensor<8x32x64xf32>
    %233 = stablehlo.add %231, %232 : tensor<8x32x64xf32>
    %234 = stablehlo.dot_general %233, %121, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %235 = stablehlo.transpose %234, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %236 = stablehlo.dot_general %233, %arg16, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %237 = stablehlo.reshape %236 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %238 = stablehlo.transpose %237, dims = [0, 2, 3, 1] : (tensor<8x32x4x16xf32>) -> tensor<8x4x16x32xf32>
    %239 = stablehlo.dot_general %238, %98, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x32xf32>
    %240 = stablehlo.dot_general %238, %115, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x4x32x32xf32>) -> tensor<8x4x16x32xf32>
    %241 = stablehlo.transpose %240, dims = [0, 3, 1, 2] : (tensor<8x4x16x32xf32>) -> tensor<8x32x4x16xf32>
    %242 = stablehlo.broadcast_in_dim %118, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %243 = stablehlo.multiply %239, %242 : tensor<8x4x32x32xf32>
    %244 = stablehlo.multiply %243, %111 : tensor<8x4x32x32xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %245 = stablehlo.reduce(%244 init: %cst_48) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %246 = stablehlo.reshape %245 : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %247 = stablehlo.negate %246 : tensor<8x4x32x1xf32>
    %248 = stablehlo.broadcast_in_dim %113, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %249 = stablehlo.divide %239, %248 : tensor<8x4x32x32xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %250 = stablehlo.reduce(%247 init: %cst_49) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x1xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %251 = stablehlo.broadcast_in_dim %250, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x32xf32>
    %252 = stablehlo.add %249, %251 : tensor<8x4x32x32xf32>
    %253 = stablehlo.multiply %252, %111 : tensor<8x4x32x32xf32>
    %254 = call @_where_3(%104#1, %253) : (tensor<8x4x32x32xi1>, tensor<8x4x32x32xf32>) -> tensor<8x4x32x32xf32>
    %cst_50 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<8x4x32x32xf32>
    %256 = stablehlo.divide %254, %255 : tensor<8x4x32x32xf32>
    %257 = stablehlo.dot_general %256, %94, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %258 = stablehlo.transpose %257, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %259 = stablehlo.dot_general %256, %96, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %260 = stablehlo.transpose %259, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %261 = stablehlo.reshape %241 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %262 = stablehlo.dot_general %261, %92, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %263 = stablehlo.transpose %262, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %264 = stablehlo.dot_general %261, %arg18, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %265 = stablehlo.reshape %258 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %266 = stablehlo.dot_general %265, %92, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %267 = stablehlo.transpose %266, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %268 = stablehlo.dot_general %265, %arg15, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %269 = stablehlo.add %264, %268 : tensor<8x32x64xf32>
    %270 = stablehlo.reshape %260 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %271 = stablehlo.dot_general %270, %92, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %272 = stablehlo.transpose %271, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %273 = stablehlo.dot_general %270, %arg17, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %274 = stablehlo.add %269, %273 : tensor<8x32x64xf32>
    %275 = stablehlo.multiply %89, %274 : tensor<8x32x64xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %276 = stablehlo.reduce(%275 init: %cst_51) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %277 = stablehlo.reshape %276 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %278 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %279 = stablehlo.multiply %274, %278 : tensor<8x32x64xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %280 = stablehlo.reduce(%277 init: %cst_52) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %281 = stablehlo.multiply %76, %279 : tensor<8x32x64xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %282 = stablehlo.reduce(%281 init: %cst_53) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %283 = stablehlo.reshape %282 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %284 = stablehlo.broadcast_in_dim %84, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %285 = stablehlo.multiply %279, %284 : tensor<8x32x64xf32>
    %286 = stablehlo.add %233, %285 : tensor<8x32x64xf32>
    %287 = stablehlo.multiply %283, %87 : tensor<8x32x1xf32>
    %cst_54 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %288 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %289 = stablehlo.divide %287, %288 : tensor<8x32x1xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %290 = stablehlo.reduce(%289 init: %cst_55) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %291 = stablehlo.broadcast_in_dim %290, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %292 = stablehlo.multiply %76, %291 : tensor<8x32x64xf32>
    %293 = stablehlo.add %286, %292 : tensor<8x32x64xf32>
    %294 = stablehlo.multiply %291, %76 : tensor<8x32x64xf32>
    %295 = stablehlo.add %293, %294 : tensor<8x32x64xf32>
    %296 = stablehlo.dot_general %295, %74, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x128xf32>) -> tensor<64x128xf32>
    %297 = stablehlo.transpose %296, dims = [1, 0] : (tensor<64x128xf32>) -> tensor<128x64xf32>
    %298 = stablehlo.dot_general %295, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<128x64xf32>) -> tensor<8x32x128xf32>
    %299 = stablehlo.multiply %72#0, %298 : tensor<8x32x128xf32>
    %300 = stablehlo.multiply %298, %73 : tensor<8x32x128xf32>
    %301 = stablehlo.dot_general %299, %70, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %302 = stablehlo.transpose %301, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %303 = stablehlo.dot_general %299, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<64x128xf32>) -> tensor<8x32x64xf32>
    %304 = call @silu_2(%72#1, %72#2, %71, %300) : (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x128xf32>) -> tensor<8x32x128xf32>
    %305 = stablehlo.dot_general %304, %70, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %306 = stablehlo.transpose %305, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %307 = stablehlo.dot_general %304, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<64x128xf32>) -> tensor<8x32x64xf32>
    %308 = stablehlo.add %303, %307 : tensor<8x32x64xf32>
    %309 = stablehlo.multiply %67, %308 : tensor<8x32x64xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %310 = stablehlo.reduce(%309 init: %cst_56) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %311 = stablehlo.reshape %310 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %312 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %313 = stablehlo.multiply %308, %312 : tensor<8x32x64xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %314 = stablehlo.reduce(%311 init: %cst_57) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %315 = stablehlo.multiply %54, %313 : tensor<8x32x64xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %316 = stablehlo.reduce(%315 init: %cst_58) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %317 = stablehlo.reshape %316 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %318 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %319 = stablehlo.multiply %313, %318 : tensor<8x32x64xf32>
    %320 = stablehlo.add %295, %319 : tensor<8x32x64xf32>
    %321 = stablehlo.multiply %317, %65 : tensor<8x32x1xf32>
    %cst_59 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %322 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %323 = stablehlo.divide %321, %322 : tensor<8x32x1xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %324 = stablehlo.reduce(%323 init: %cst_60) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %325 = stablehlo.broadcast_in_dim %324, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %326 = stablehlo.multiply %54, %325 : tensor<8x32x64xf32>
    %327 = stablehlo.add %320, %326 : tensor<8x32x64xf32>
    %328 = stablehlo.multiply %325, %54 : tensor<8x32x64xf32>
    %329 = stablehlo.add %327, %328 : tensor<8x32x64xf32>
    %330 = stablehlo.dot_general %329, %52, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %331 = stablehlo.transpose %330, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %332 = stablehlo.dot_general %329, %arg7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %333 = stablehlo.reshape %332 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %334 = stablehlo.transpose %333, dims = [0, 2, 3, 1] : (tensor<8x32x4x16xf32>) -> tensor<8x4x16x32xf32>
    %335 = stablehlo.dot_general %334, %29, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x32xf32>
    %336 = stablehlo.dot_general %334, %46, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x32xf32>, tensor<8x4x32x32xf32>) -> tensor<8x4x16x32xf32>
    %337 = stablehlo.transpose %336, dims = [0, 3, 1, 2] : (tensor<8x4x16x32xf32>) -> tensor<8x32x4x16xf32>
    %338 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %339 = stablehlo.multiply %335, %338 : tensor<8x4x32x32xf32>
    %340 = stablehlo.multiply %339, %42 : tensor<8x4x32x32xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %341 = stablehlo.reduce(%340 init: %cst_61) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x32xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %342 = stablehlo.reshape %341 : (tensor<8x4x32xf32>) -> tensor<8x4x32x1xf32>
    %343 = stablehlo.negate %342 : tensor<8x4x32x1xf32>
    %344 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<8x4x32x1xf32>) -> tensor<8x4x32x32xf32>
    %345 = stablehlo.divide %335, %344 : tensor<8x4x32x32xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %346 = stablehlo.reduce(%343 init: %cst_62) applies stablehlo.add across dimensions = [3] : (tensor<8x4x32x1xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %347 = stablehlo.broadcast_in_dim %346, dims = [0, 1, 2] : (tensor<8x4x32xf32>) -> tensor<8x4x32x32xf32>
    %348 = stablehlo.add %345, %347 : tensor<8x4x32x32xf32>
    %349 = stablehlo.multiply %348, %42 : tensor<8x4x32x32xf32>
    %350 = call @_where_3(%35#1, %349) : (tensor<8x4x32x32xi1>, tensor<8x4x32x32xf32>) -> tensor<8x4x32x32xf32>
    %cst_63 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %351 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<8x4x32x32xf32>
    %352 = stablehlo.divide %350, %351 : tensor<8x4x32x32xf32>
    %353 = stablehlo.dot_general %352, %25, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %354 = stablehlo.transpose %353, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %355 = stablehlo.dot_general %352, %27, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %356 = stablehlo.transpose %355, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %357 = stablehlo.reshape %337 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %358 = stablehlo.dot_general %357, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %359 = stablehlo.transpose %358, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %360 = stablehlo.dot_general %357, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %361 = stablehlo.reshape %354 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %362 = stablehlo.dot_general %361, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %363 = stablehlo.transpose %362, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %364 = stablehlo.dot_general %361, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %365 = stablehlo.add %360, %364 : tensor<8x32x64xf32>
    %366 = stablehlo.reshape %356 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %367 = stablehlo.dot_general %366, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x64xf32>) -> tensor<64x64xf32>
    %368 = stablehlo.transpose %367, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %369 = stablehlo.dot_general %366, %arg8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %370 = stablehlo.add %365, %369 : tensor<8x32x64xf32>
    %371 = stablehlo.multiply %20, %370 : tensor<8x32x64xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %372 = stablehlo.reduce(%371 init: %cst_64) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %373 = stablehlo.reshape %372 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %374 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %375 = stablehlo.multiply %370, %374 : tensor<8x32x64xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %376 = stablehlo.reduce(%373 init: %cst_65) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %377 = stablehlo.multiply %7, %375 : tensor<8x32x64xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %378 = stablehlo.reduce(%377 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %379 = stablehlo.reshape %378 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %380 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %381 = stablehlo.multiply %375, %380 : tensor<8x32x64xf32>
    %382 = stablehlo.add %329, %381 : tensor<8x32x64xf32>
    %383 = stablehlo.multiply %379, %18 : tensor<8x32x1xf32>
    %cst_67 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %384 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %385 = stablehlo.divide %383, %384 : tensor<8x32x1xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %386 = stablehlo.reduce(%385 init: %cst_68) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %387 = stablehlo.broadcast_in_dim %386, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %388 = stablehlo.multiply %7, %387 : tensor<8x32x64xf32>
    %389 = stablehlo.add %382, %388 : tensor<8x32x64xf32>
    %390 = stablehlo.multiply %387, %7 : tensor<8x32x64xf32>
    %391 = stablehlo.add %389, %390 : tensor<8x32x64xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %392 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %393 = "stablehlo.scatter"(%392, %6, %391) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>):
      %455 = stablehlo.add %arg21, %arg22 : tensor<f32>
      stablehlo.return %455 : tensor<f32>
    }) : (tensor<256x64xf32>, tensor<8x32x1xi32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %394 = stablehlo.add %179, %393 : tensor<256x64xf32>
    %cst_70 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %395 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %396 = stablehlo.multiply %395, %394 : tensor<256x64xf32>
    %397 = stablehlo.subtract %arg0, %396 : tensor<256x64xf32>
    %cst_71 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %398 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %399 = stablehlo.multiply %398, %297 : tensor<128x64xf32>
    %400 = stablehlo.subtract %arg1, %399 : tensor<128x64xf32>
    %cst_72 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %401 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %402 = stablehlo.multiply %401, %306 : tensor<64x128xf32>
    %403 = stablehlo.subtract %arg2, %402 : tensor<64x128xf32>
    %cst_73 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %404 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %405 = stablehlo.multiply %404, %376 : tensor<64xf32>
    %406 = stablehlo.subtract %arg3, %405 : tensor<64xf32>
    %cst_74 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %407 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %408 = stablehlo.multiply %407, %314 : tensor<64xf32>
    %409 = stablehlo.subtract %arg4, %408 : tensor<64xf32>
    %cst_75 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %410 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %411 = stablehlo.multiply %410, %302 : tensor<64x128xf32>
    %412 = stablehlo.subtract %arg5, %411 : tensor<64x128xf32>
    %cst_76 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %413 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %414 = stablehlo.multiply %413, %363 : tensor<64x64xf32>
    %415 = stablehlo.subtract %arg6, %414 : tensor<64x64xf32>
    %cst_77 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %416 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %417 = stablehlo.multiply %416, %331 : tensor<64x64xf32>
    %418 = stablehlo.subtract %arg7, %417 : tensor<64x64xf32>
    %cst_78 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %419 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %420 = stablehlo.multiply %419, %368 : tensor<64x64xf32>
    %421 = stablehlo.subtract %arg8, %420 : tensor<64x64xf32>
    %cst_79 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %422 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %423 = stablehlo.multiply %422, %359 : tensor<64x64xf32>
    %424 = stablehlo.subtract %arg9, %423 : tensor<64x64xf32>
    %cst_80 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %425 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %426 = stablehlo.multiply %425, %201 : tensor<128x64xf32>
    %427 = stablehlo.subtract %arg10, %426 : tensor<128x64xf32>
    %cst_81 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %428 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %429 = stablehlo.multiply %428, %210 : tensor<64x128xf32>
    %430 = stablehlo.subtract %arg11, %429 : tensor<64x128xf32>
    %cst_82 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %431 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %432 = stablehlo.multiply %431, %280 : tensor<64xf32>
    %433 = stablehlo.subtract %arg12, %432 : tensor<64xf32>
    %cst_83 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %434 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %435 = stablehlo.multiply %434, %218 : tensor<64xf32>
    %436 = stablehlo.subtract %arg13, %435 : tensor<64xf32>
    %cst_84 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %437 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %438 = stablehlo.multiply %437, %206 : tensor<64x128xf32>
    %439 = stablehlo.subtract %arg14, %438 : tensor<64x128xf32>
    %cst_85 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %440 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %441 = stablehlo.multiply %440, %267 : tensor<64x64xf32>
    %442 = stablehlo.subtract %arg15, %441 : tensor<64x64xf32>
    %cst_86 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %443 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %444 = stablehlo.multiply %443, %235 : tensor<64x64xf32>
    %445 = stablehlo.subtract %arg16, %444 : tensor<64x64xf32>
    %cst_87 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %446 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %447 = stablehlo.multiply %446, %272 : tensor<64x64xf32>
    %448 = stablehlo.subtract %arg17, %447 : tensor<64x64xf32>
    %cst_88 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %449 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %450 = stablehlo.multiply %449, %263 : tensor<64x64xf32>
    %451 = stablehlo.subtract %arg18, %450 : tensor<64x64xf32>
    %cst_89 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %452 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %453 = stablehlo.multiply %452, %185 : tensor<64xf32>
    %454 = stablehlo.subtract %arg19, %453 : tensor<64xf32>
    return %397, %400, %403, %406, %409, %412, %415, %418, %421, %424, %427, %430, %433, %436, %439, %442, %445, %448, %451, %454, %170 : tensor<256x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<f32>
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
  func.func private @log_softmax(%arg0: tensor<8x32x256xf32>) -> (tensor<8x32x256xf32>, tensor<8x32x256xf32>, tensor<8x32x1xf32>) {
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
    %9 = stablehlo.log %8 : tensor<8x32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x256xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<8x32x256xf32>
    return %11, %6, %8 : tensor<8x32x256xf32>, tensor<8x32x256xf32>, tensor<8x32x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x32x256xf32>, %arg1: tensor<8x32x1xi32>) -> (tensor<8x32x1xf32>, tensor<8x32x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x32x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x32x1xi32>, tensor<8x32x1xi32>) -> tensor<8x32x1xi1>
    %c_0 = stablehlo.constant dense<256> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x32x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x32x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x32x1xi1>, tensor<8x32x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x32x1xi32>) -> tensor<8x32x1x1xi32>
    %c_1 = stablehlo.constant dense<255> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x32x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x32x1x1xi32>, tensor<8x32x1x1xi32>) -> tensor<8x32x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<8x32x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x32x1x1xi32>, tensor<8x32x1x1xi32>) -> tensor<8x32x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x32x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<8x32x1x1xi1>, tensor<i1>) -> tensor<8x32x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x32x256xf32>, tensor<8x32x1x1xi32>) -> tensor<8x32x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x32x1xi1>, tensor<8x32x1xf32>
    return %15, %5 : tensor<8x32x1xf32>, tensor<8x32x1x1xi32>
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
