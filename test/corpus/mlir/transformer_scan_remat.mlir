module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<3x128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg1: tensor<3x64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}]>}, %arg2: tensor<3x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<3x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg4: tensor<3x64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}]>}, %arg5: tensor<3x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}]>}, %arg6: tensor<3x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg7: tensor<3x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}]>}, %arg8: tensor<3x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}]>}, %arg9: tensor<8x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<3x128x64xf32> {jax.result_info = "result['down']"}, tensor<3x64x128xf32> {jax.result_info = "result['gate']"}, tensor<3x64xf32> {jax.result_info = "result['norm1']"}, tensor<3x64xf32> {jax.result_info = "result['norm2']"}, tensor<3x64x128xf32> {jax.result_info = "result['up']"}, tensor<3x64x64xf32> {jax.result_info = "result['wk']"}, tensor<3x64x64xf32> {jax.result_info = "result['wo']"}, tensor<3x64x64xf32> {jax.result_info = "result['wq']"}, tensor<3x64x64xf32> {jax.result_info = "result['wv']"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %1 = call @tril(%0) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %2:2 = call @_where(%1, %cst) : (tensor<16x16xi1>, tensor<f32>) -> (tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>)
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x8x16x64xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4:14 = stablehlo.while(%iterArg = %arg0, %iterArg_13 = %arg1, %iterArg_14 = %arg2, %iterArg_15 = %arg3, %iterArg_16 = %arg4, %iterArg_17 = %arg5, %iterArg_18 = %arg6, %iterArg_19 = %arg7, %iterArg_20 = %arg8, %iterArg_21 = %2#0, %iterArg_22 = %2#1, %iterArg_23 = %c_1, %iterArg_24 = %arg9, %iterArg_25 = %3) : tensor<3x128x64xf32>, tensor<3x64x128xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64x128xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>, tensor<i32>, tensor<8x16x64xf32>, tensor<3x8x16x64xf32>
    cond {
      %c_26 = stablehlo.constant dense<3> : tensor<i32>
      %16 = stablehlo.compare LT, %iterArg_23, %c_26, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %16 : tensor<i1>
    } do {
      %16 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_23) : (tensor<3x128x64xf32>, tensor<i32>) -> tensor<128x64xf32>
      %17 = func.call @dynamic_index_in_dim_0(%iterArg_13, %iterArg_23) : (tensor<3x64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
      %18 = func.call @dynamic_index_in_dim_1(%iterArg_14, %iterArg_23) : (tensor<3x64xf32>, tensor<i32>) -> tensor<64xf32>
      %19 = func.call @dynamic_index_in_dim_1(%iterArg_15, %iterArg_23) : (tensor<3x64xf32>, tensor<i32>) -> tensor<64xf32>
      %20 = func.call @dynamic_index_in_dim_0(%iterArg_16, %iterArg_23) : (tensor<3x64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
      %21 = func.call @dynamic_index_in_dim_2(%iterArg_17, %iterArg_23) : (tensor<3x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %22 = func.call @dynamic_index_in_dim_2(%iterArg_18, %iterArg_23) : (tensor<3x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %23 = func.call @dynamic_index_in_dim_2(%iterArg_19, %iterArg_23) : (tensor<3x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %24 = func.call @dynamic_index_in_dim_2(%iterArg_20, %iterArg_23) : (tensor<3x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %25:2 = func.call @closed_call(%iterArg_21, %iterArg_22, %iterArg_24, %16, %17, %18, %19, %20, %21, %22, %23, %24) : (tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>, tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>)
      %26 = func.call @dynamic_update_index_in_dim(%iterArg_25, %25#1, %iterArg_23) : (tensor<3x8x16x64xf32>, tensor<8x16x64xf32>, tensor<i32>) -> tensor<3x8x16x64xf32>
      %c_26 = stablehlo.constant dense<1> : tensor<i32>
      %27 = stablehlo.add %iterArg_23, %c_26 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_13, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %27, %25#0, %26 : tensor<3x128x64xf32>, tensor<3x64x128xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64x128xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>, tensor<i32>, tensor<8x16x64xf32>, tensor<3x8x16x64xf32>
    }
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x128x64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x64x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<3x64xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x64xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3x64x128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3x64x64xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<3x64x64xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<3x64x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<3x64x64xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %15:21 = stablehlo.while(%iterArg = %4#13, %iterArg_13 = %arg0, %iterArg_14 = %arg1, %iterArg_15 = %arg2, %iterArg_16 = %arg3, %iterArg_17 = %arg4, %iterArg_18 = %arg5, %iterArg_19 = %arg6, %iterArg_20 = %arg7, %iterArg_21 = %arg8, %iterArg_22 = %c_12, %iterArg_23 = %5, %iterArg_24 = %6, %iterArg_25 = %7, %iterArg_26 = %8, %iterArg_27 = %9, %iterArg_28 = %10, %iterArg_29 = %11, %iterArg_30 = %12, %iterArg_31 = %13, %iterArg_32 = %14) : tensor<3x8x16x64xf32>, tensor<3x128x64xf32>, tensor<3x64x128xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64x128xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<i32>, tensor<8x16x64xf32>, tensor<3x128x64xf32>, tensor<3x64x128xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64x128xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>
    cond {
      %c_33 = stablehlo.constant dense<3> : tensor<i32>
      %16 = stablehlo.compare LT, %iterArg_22, %c_33, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %16 : tensor<i1>
    } do {
      %c_33 = stablehlo.constant dense<3> : tensor<i32>
      %16 = stablehlo.subtract %c_33, %iterArg_22 : tensor<i32>
      %c_34 = stablehlo.constant dense<1> : tensor<i32>
      %17 = stablehlo.subtract %16, %c_34 : tensor<i32>
      %18 = func.call @dynamic_index_in_dim_4(%iterArg, %17) : (tensor<3x8x16x64xf32>, tensor<i32>) -> tensor<8x16x64xf32>
      %19 = func.call @dynamic_index_in_dim(%iterArg_13, %17) : (tensor<3x128x64xf32>, tensor<i32>) -> tensor<128x64xf32>
      %20 = func.call @dynamic_index_in_dim_0(%iterArg_14, %17) : (tensor<3x64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
      %21 = func.call @dynamic_index_in_dim_1(%iterArg_15, %17) : (tensor<3x64xf32>, tensor<i32>) -> tensor<64xf32>
      %22 = func.call @dynamic_index_in_dim_1(%iterArg_16, %17) : (tensor<3x64xf32>, tensor<i32>) -> tensor<64xf32>
      %23 = func.call @dynamic_index_in_dim_0(%iterArg_17, %17) : (tensor<3x64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
      %24 = func.call @dynamic_index_in_dim_2(%iterArg_18, %17) : (tensor<3x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %25 = func.call @dynamic_index_in_dim_2(%iterArg_19, %17) : (tensor<3x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %26 = func.call @dynamic_index_in_dim_2(%iterArg_20, %17) : (tensor<3x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %27 = func.call @dynamic_index_in_dim_2(%iterArg_21, %17) : (tensor<3x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %28:10 = func.call @closed_call_5(%iterArg_23, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27) : (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
      %29 = func.call @dynamic_update_index_in_dim_11(%iterArg_24, %28#1, %17) : (tensor<3x128x64xf32>, tensor<128x64xf32>, tensor<i32>) -> tensor<3x128x64xf32>
      %30 = func.call @dynamic_update_index_in_dim_12(%iterArg_25, %28#2, %17) : (tensor<3x64x128xf32>, tensor<64x128xf32>, tensor<i32>) -> tensor<3x64x128xf32>
      %31 = func.call @dynamic_update_index_in_dim_13(%iterArg_26, %28#3, %17) : (tensor<3x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<3x64xf32>
      %32 = func.call @dynamic_update_index_in_dim_13(%iterArg_27, %28#4, %17) : (tensor<3x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<3x64xf32>
      %33 = func.call @dynamic_update_index_in_dim_12(%iterArg_28, %28#5, %17) : (tensor<3x64x128xf32>, tensor<64x128xf32>, tensor<i32>) -> tensor<3x64x128xf32>
      %34 = func.call @dynamic_update_index_in_dim_14(%iterArg_29, %28#6, %17) : (tensor<3x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<3x64x64xf32>
      %35 = func.call @dynamic_update_index_in_dim_14(%iterArg_30, %28#7, %17) : (tensor<3x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<3x64x64xf32>
      %36 = func.call @dynamic_update_index_in_dim_14(%iterArg_31, %28#8, %17) : (tensor<3x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<3x64x64xf32>
      %37 = func.call @dynamic_update_index_in_dim_14(%iterArg_32, %28#9, %17) : (tensor<3x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<3x64x64xf32>
      %c_35 = stablehlo.constant dense<1> : tensor<i32>
      %38 = stablehlo.add %iterArg_22, %c_35 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_13, %iterArg_14, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %38, %28#0, %29, %30, %31, %32, %33, %34, %35, %36, %37 : tensor<3x8x16x64xf32>, tensor<3x128x64xf32>, tensor<3x64x128xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64x128xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<i32>, tensor<8x16x64xf32>, tensor<3x128x64xf32>, tensor<3x64x128xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64x128xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>
    }
    return %15#12, %15#13, %15#14, %15#15, %15#16, %15#17, %15#18, %15#19, %15#20 : tensor<3x128x64xf32>, tensor<3x64x128xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64x128xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>, tensor<3x64x64xf32>
  }
  func.func private @tril(%arg0: tensor<16x16xi1>) -> tensor<16x16xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %2 = stablehlo.add %0, %1 : tensor<16x16xi32>
    %3 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<16x16xi1>, tensor<16x16xi1>
    return %6 : tensor<16x16xi1>
  }
  func.func private @_where(%arg0: tensor<16x16xi1>, %arg1: tensor<f32>) -> (tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<8x4x16x16xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x16x16xf32>
    return %1, %2 : tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x128x64xf32>, %arg1: tensor<i32>) -> tensor<128x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 128, 64] : (tensor<3x128x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x128x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x128x64xf32>) -> tensor<128x64xf32>
    return %1 : tensor<128x64xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<3x64x128xf32>, %arg1: tensor<i32>) -> tensor<64x128xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 128] : (tensor<3x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    return %1 : tensor<64x128xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<3x64xf32>, %arg1: tensor<i32>) -> tensor<64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 64] : (tensor<3x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64xf32>) -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<3x64x64xf32>, %arg1: tensor<i32>) -> tensor<64x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 64] : (tensor<3x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x4x16x16xi1>, %arg1: tensor<8x4x16x16xf32>, %arg2: tensor<8x16x64xf32>, %arg3: tensor<128x64xf32>, %arg4: tensor<64x128xf32>, %arg5: tensor<64xf32>, %arg6: tensor<64xf32>, %arg7: tensor<64x128xf32>, %arg8: tensor<64x64xf32>, %arg9: tensor<64x64xf32>, %arg10: tensor<64x64xf32>, %arg11: tensor<64x64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>) {
    %0 = stablehlo.multiply %arg2, %arg2 : tensor<8x16x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<8x16x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %6 = stablehlo.add %4, %5 : tensor<8x16x1xf32>
    %7 = stablehlo.rsqrt %6 : tensor<8x16x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %9 = stablehlo.multiply %arg2, %8 : tensor<8x16x64xf32>
    %10 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<8x16x64xf32>
    %13 = stablehlo.dot_general %12, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %14 = stablehlo.reshape %13 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %15 = stablehlo.dot_general %12, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %16 = stablehlo.reshape %15 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %17 = stablehlo.dot_general %12, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %18 = stablehlo.reshape %17 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %19 = stablehlo.dot_general %14, %16, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x4x16x16xf32>
    %21 = stablehlo.divide %19, %20 : tensor<8x4x16x16xf32>
    %22 = call @_where_3(%21, %arg0, %arg1) : (tensor<8x4x16x16xf32>, tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x16x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x4x16xf32>
    %25 = stablehlo.maximum %24, %23 : tensor<8x4x16xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<8x4x16xf32>) -> tensor<8x4x16x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %28 = stablehlo.subtract %22, %27 : tensor<8x4x16x16xf32>
    %29 = stablehlo.exponential %28 : tensor<8x4x16x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<8x4x16x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<8x4x16xf32>) -> tensor<8x4x16x1xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %33 = stablehlo.divide %29, %32 : tensor<8x4x16x16xf32>
    %34 = stablehlo.dot_general %18, %33, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x16xf32>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    %35 = stablehlo.transpose %34, dims = [0, 3, 1, 2] : (tensor<8x4x16x16xf32>) -> tensor<8x16x4x16xf32>
    %36 = stablehlo.reshape %35 : (tensor<8x16x4x16xf32>) -> tensor<8x16x64xf32>
    %37 = stablehlo.dot_general %36, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %38 = stablehlo.add %arg2, %37 : tensor<8x16x64xf32>
    %39 = stablehlo.multiply %38, %38 : tensor<8x16x64xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_7 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %43 = stablehlo.divide %41, %42 : tensor<8x16x1xf32>
    %cst_8 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %45 = stablehlo.add %43, %44 : tensor<8x16x1xf32>
    %46 = stablehlo.rsqrt %45 : tensor<8x16x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %48 = stablehlo.multiply %38, %47 : tensor<8x16x64xf32>
    %49 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %51 = stablehlo.multiply %48, %50 : tensor<8x16x64xf32>
    %52 = stablehlo.dot_general %51, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x128xf32>) -> tensor<8x16x128xf32>
    %53 = call @silu(%52) : (tensor<8x16x128xf32>) -> tensor<8x16x128xf32>
    %54 = stablehlo.dot_general %51, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x128xf32>) -> tensor<8x16x128xf32>
    %55 = stablehlo.multiply %53, %54 : tensor<8x16x128xf32>
    %56 = stablehlo.dot_general %55, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<128x64xf32>) -> tensor<8x16x64xf32>
    %57 = stablehlo.add %38, %56 : tensor<8x16x64xf32>
    return %57, %arg2 : tensor<8x16x64xf32>, tensor<8x16x64xf32>
  }
  func.func private @_where_3(%arg0: tensor<8x4x16x16xf32>, %arg1: tensor<8x4x16x16xi1>, %arg2: tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32> {
    %0 = stablehlo.select %arg1, %arg0, %arg2 : tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>
    return %0 : tensor<8x4x16x16xf32>
  }
  func.func private @silu(%arg0: tensor<8x16x128xf32>) -> tensor<8x16x128xf32> {
    %0 = stablehlo.negate %arg0 : tensor<8x16x128xf32>
    %1 = stablehlo.exponential %0 : tensor<8x16x128xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x128xf32>
    %3 = stablehlo.add %2, %1 : tensor<8x16x128xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16x128xf32>
    %5 = stablehlo.divide %4, %3 : tensor<8x16x128xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<8x16x128xf32>
    return %6 : tensor<8x16x128xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x8x16x64xf32>, %arg1: tensor<8x16x64xf32>, %arg2: tensor<i32>) -> tensor<3x8x16x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<8x16x64xf32>) -> tensor<1x8x16x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<3x8x16x64xf32>, tensor<1x8x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x8x16x64xf32>
    return %1 : tensor<3x8x16x64xf32>
  }
  func.func private @dynamic_index_in_dim_4(%arg0: tensor<3x8x16x64xf32>, %arg1: tensor<i32>) -> tensor<8x16x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 8, 16, 64] : (tensor<3x8x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16x64xf32>) -> tensor<8x16x64xf32>
    return %1 : tensor<8x16x64xf32>
  }
  func.func private @closed_call_5(%arg0: tensor<8x16x64xf32>, %arg1: tensor<8x16x64xf32>, %arg2: tensor<128x64xf32>, %arg3: tensor<64x128xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64xf32>, %arg6: tensor<64x128xf32>, %arg7: tensor<64x64xf32>, %arg8: tensor<64x64xf32>, %arg9: tensor<64x64xf32>, %arg10: tensor<64x64xf32>) -> (tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %0:11 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9, %arg10, %arg0 : tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<8x16x64xf32>
    %1 = stablehlo.multiply %0#0, %0#0 : tensor<8x16x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<8x16x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %7 = stablehlo.add %5, %6 : tensor<8x16x1xf32>
    %8 = stablehlo.rsqrt %7 : tensor<8x16x1xf32>
    %9 = stablehlo.divide %8, %7 : tensor<8x16x1xf32>
    %cst_2 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<8x16x1xf32>
    %12 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %13 = stablehlo.multiply %0#0, %12 : tensor<8x16x64xf32>
    %14 = stablehlo.broadcast_in_dim %0#3, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %16 = stablehlo.multiply %13, %15 : tensor<8x16x64xf32>
    %17 = stablehlo.dot_general %16, %0#8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %18 = stablehlo.reshape %17 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %19 = stablehlo.dot_general %16, %0#6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %20 = stablehlo.reshape %19 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %21 = stablehlo.dot_general %16, %0#9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %22 = stablehlo.reshape %21 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %23 = stablehlo.dot_general %18, %20, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x4x16x16xf32>
    %25 = stablehlo.divide %23, %24 : tensor<8x4x16x16xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %26 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %27 = call @tril_6(%26) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst_4 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %28:2 = call @_where_7(%27, %25, %cst_4) : (tensor<16x16xi1>, tensor<8x4x16x16xf32>, tensor<f32>) -> (tensor<8x4x16x16xf32>, tensor<8x4x16x16xi1>)
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %29 = stablehlo.reduce(%28#0 init: %cst_5) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x16x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x4x16xf32>
    %31 = stablehlo.maximum %30, %29 : tensor<8x4x16xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<8x4x16xf32>) -> tensor<8x4x16x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %34 = stablehlo.subtract %28#0, %33 : tensor<8x4x16x16xf32>
    %35 = stablehlo.exponential %34 : tensor<8x4x16x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<8x4x16x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<8x4x16xf32>) -> tensor<8x4x16x1xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %39 = stablehlo.divide %35, %38 : tensor<8x4x16x16xf32>
    %40 = stablehlo.multiply %37, %37 : tensor<8x4x16x1xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x4x16x1xf32>
    %42 = stablehlo.divide %41, %40 : tensor<8x4x16x1xf32>
    %43 = stablehlo.dot_general %22, %39, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x16xf32>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    %44 = stablehlo.transpose %43, dims = [0, 3, 1, 2] : (tensor<8x4x16x16xf32>) -> tensor<8x16x4x16xf32>
    %45 = stablehlo.reshape %44 : (tensor<8x16x4x16xf32>) -> tensor<8x16x64xf32>
    %46 = stablehlo.dot_general %45, %0#7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %47 = stablehlo.add %0#0, %46 : tensor<8x16x64xf32>
    %48 = stablehlo.multiply %47, %47 : tensor<8x16x64xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_10 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %52 = stablehlo.divide %50, %51 : tensor<8x16x1xf32>
    %cst_11 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %54 = stablehlo.add %52, %53 : tensor<8x16x1xf32>
    %55 = stablehlo.rsqrt %54 : tensor<8x16x1xf32>
    %56 = stablehlo.divide %55, %54 : tensor<8x16x1xf32>
    %cst_12 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %58 = stablehlo.multiply %57, %56 : tensor<8x16x1xf32>
    %59 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %60 = stablehlo.multiply %47, %59 : tensor<8x16x64xf32>
    %61 = stablehlo.broadcast_in_dim %0#4, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %63 = stablehlo.multiply %60, %62 : tensor<8x16x64xf32>
    %64 = stablehlo.dot_general %63, %0#2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x128xf32>) -> tensor<8x16x128xf32>
    %65:3 = call @silu_8(%64) : (tensor<8x16x128xf32>) -> (tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>)
    %66 = stablehlo.dot_general %63, %0#5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x128xf32>) -> tensor<8x16x128xf32>
    %67 = stablehlo.multiply %65#0, %66 : tensor<8x16x128xf32>
    %68 = stablehlo.dot_general %0#10, %67, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x128xf32>) -> tensor<64x128xf32>
    %69 = stablehlo.transpose %68, dims = [1, 0] : (tensor<64x128xf32>) -> tensor<128x64xf32>
    %70 = stablehlo.dot_general %0#10, %0#1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<128x64xf32>) -> tensor<8x16x128xf32>
    %71 = stablehlo.multiply %65#0, %70 : tensor<8x16x128xf32>
    %72 = stablehlo.multiply %70, %66 : tensor<8x16x128xf32>
    %73 = stablehlo.dot_general %71, %63, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<8x16x64xf32>) -> tensor<128x64xf32>
    %74 = stablehlo.transpose %73, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %75 = stablehlo.dot_general %71, %0#5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<64x128xf32>) -> tensor<8x16x64xf32>
    %76 = call @silu_9(%65#1, %64, %65#2, %72) : (tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>) -> tensor<8x16x128xf32>
    %77 = stablehlo.dot_general %76, %63, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<8x16x64xf32>) -> tensor<128x64xf32>
    %78 = stablehlo.transpose %77, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %79 = stablehlo.dot_general %76, %0#2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<64x128xf32>) -> tensor<8x16x64xf32>
    %80 = stablehlo.add %75, %79 : tensor<8x16x64xf32>
    %81 = stablehlo.multiply %60, %80 : tensor<8x16x64xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %82 = stablehlo.reduce(%81 init: %cst_13) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<64xf32>
    %83 = stablehlo.reshape %82 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %84 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %85 = stablehlo.multiply %80, %84 : tensor<8x16x64xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.reduce(%83 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %87 = stablehlo.multiply %47, %85 : tensor<8x16x64xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %88 = stablehlo.reduce(%87 init: %cst_15) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %89 = stablehlo.reshape %88 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %90 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %91 = stablehlo.multiply %85, %90 : tensor<8x16x64xf32>
    %92 = stablehlo.add %0#10, %91 : tensor<8x16x64xf32>
    %93 = stablehlo.multiply %89, %58 : tensor<8x16x1xf32>
    %cst_16 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %95 = stablehlo.divide %93, %94 : tensor<8x16x1xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %96 = stablehlo.reduce(%95 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x64xf32>
    %98 = stablehlo.multiply %47, %97 : tensor<8x16x64xf32>
    %99 = stablehlo.add %92, %98 : tensor<8x16x64xf32>
    %100 = stablehlo.multiply %97, %47 : tensor<8x16x64xf32>
    %101 = stablehlo.add %99, %100 : tensor<8x16x64xf32>
    %102 = stablehlo.dot_general %101, %45, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<64x64xf32>
    %103 = stablehlo.transpose %102, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %104 = stablehlo.dot_general %101, %0#7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %105 = stablehlo.reshape %104 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %106 = stablehlo.transpose %105, dims = [0, 2, 3, 1] : (tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %107 = stablehlo.dot_general %106, %22, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %108 = stablehlo.dot_general %106, %39, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16xf32>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    %109 = stablehlo.transpose %108, dims = [0, 3, 1, 2] : (tensor<8x4x16x16xf32>) -> tensor<8x16x4x16xf32>
    %110 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %111 = stablehlo.multiply %107, %110 : tensor<8x4x16x16xf32>
    %112 = stablehlo.multiply %111, %35 : tensor<8x4x16x16xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_18) applies stablehlo.add across dimensions = [3] : (tensor<8x4x16x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %114 = stablehlo.reshape %113 : (tensor<8x4x16xf32>) -> tensor<8x4x16x1xf32>
    %115 = stablehlo.negate %114 : tensor<8x4x16x1xf32>
    %116 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %117 = stablehlo.divide %107, %116 : tensor<8x4x16x16xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.reduce(%115 init: %cst_19) applies stablehlo.add across dimensions = [3] : (tensor<8x4x16x1xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %119 = stablehlo.broadcast_in_dim %118, dims = [0, 1, 2] : (tensor<8x4x16xf32>) -> tensor<8x4x16x16xf32>
    %120 = stablehlo.add %117, %119 : tensor<8x4x16x16xf32>
    %121 = stablehlo.multiply %120, %35 : tensor<8x4x16x16xf32>
    %122 = call @_where_10(%28#1, %121) : (tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    %cst_20 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x4x16x16xf32>
    %124 = stablehlo.divide %122, %123 : tensor<8x4x16x16xf32>
    %125 = stablehlo.dot_general %124, %18, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %126 = stablehlo.transpose %125, dims = [0, 2, 1, 3] : (tensor<8x4x16x16xf32>) -> tensor<8x16x4x16xf32>
    %127 = stablehlo.dot_general %124, %20, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %128 = stablehlo.transpose %127, dims = [0, 2, 1, 3] : (tensor<8x4x16x16xf32>) -> tensor<8x16x4x16xf32>
    %129 = stablehlo.reshape %109 : (tensor<8x16x4x16xf32>) -> tensor<8x16x64xf32>
    %130 = stablehlo.dot_general %129, %16, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<64x64xf32>
    %131 = stablehlo.transpose %130, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %132 = stablehlo.dot_general %129, %0#9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %133 = stablehlo.reshape %126 : (tensor<8x16x4x16xf32>) -> tensor<8x16x64xf32>
    %134 = stablehlo.dot_general %133, %16, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<64x64xf32>
    %135 = stablehlo.transpose %134, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %136 = stablehlo.dot_general %133, %0#6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %137 = stablehlo.add %132, %136 : tensor<8x16x64xf32>
    %138 = stablehlo.reshape %128 : (tensor<8x16x4x16xf32>) -> tensor<8x16x64xf32>
    %139 = stablehlo.dot_general %138, %16, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<64x64xf32>
    %140 = stablehlo.transpose %139, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %141 = stablehlo.dot_general %138, %0#8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %142 = stablehlo.add %137, %141 : tensor<8x16x64xf32>
    %143 = stablehlo.multiply %13, %142 : tensor<8x16x64xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.reduce(%143 init: %cst_21) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<64xf32>
    %145 = stablehlo.reshape %144 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %146 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %147 = stablehlo.multiply %142, %146 : tensor<8x16x64xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %148 = stablehlo.reduce(%145 init: %cst_22) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %149 = stablehlo.multiply %0#0, %147 : tensor<8x16x64xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %150 = stablehlo.reduce(%149 init: %cst_23) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %151 = stablehlo.reshape %150 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %152 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %153 = stablehlo.multiply %147, %152 : tensor<8x16x64xf32>
    %154 = stablehlo.add %101, %153 : tensor<8x16x64xf32>
    %155 = stablehlo.multiply %151, %11 : tensor<8x16x1xf32>
    %cst_24 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %157 = stablehlo.divide %155, %156 : tensor<8x16x1xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %158 = stablehlo.reduce(%157 init: %cst_25) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x64xf32>
    %160 = stablehlo.multiply %0#0, %159 : tensor<8x16x64xf32>
    %161 = stablehlo.add %154, %160 : tensor<8x16x64xf32>
    %162 = stablehlo.multiply %159, %0#0 : tensor<8x16x64xf32>
    %163 = stablehlo.add %161, %162 : tensor<8x16x64xf32>
    return %163, %69, %78, %148, %86, %74, %135, %103, %140, %131 : tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  func.func private @tril_6(%arg0: tensor<16x16xi1>) -> tensor<16x16xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %2 = stablehlo.add %0, %1 : tensor<16x16xi32>
    %3 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<16x16xi1>, tensor<16x16xi1>
    return %6 : tensor<16x16xi1>
  }
  func.func private @_where_7(%arg0: tensor<16x16xi1>, %arg1: tensor<8x4x16x16xf32>, %arg2: tensor<f32>) -> (tensor<8x4x16x16xf32>, tensor<8x4x16x16xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<16x16xi1>) -> tensor<8x4x16x16xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x16x16xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>
    return %3, %1 : tensor<8x4x16x16xf32>, tensor<8x4x16x16xi1>
  }
  func.func private @silu_8(%arg0: tensor<8x16x128xf32>) -> (tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<8x16x128xf32>
    %1 = stablehlo.exponential %0 : tensor<8x16x128xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x128xf32>
    %3 = stablehlo.add %2, %1 : tensor<8x16x128xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16x128xf32>
    %5 = stablehlo.divide %4, %3 : tensor<8x16x128xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16x128xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<8x16x128xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<8x16x128xf32>
    %9 = stablehlo.multiply %arg0, %5 : tensor<8x16x128xf32>
    return %9, %5, %8 : tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>
  }
  func.func private @silu_9(%arg0: tensor<8x16x128xf32>, %arg1: tensor<8x16x128xf32>, %arg2: tensor<8x16x128xf32>, %arg3: tensor<8x16x128xf32>) -> tensor<8x16x128xf32> {
    %0 = stablehlo.multiply %arg1, %arg3 : tensor<8x16x128xf32>
    %1 = stablehlo.multiply %arg3, %arg0 : tensor<8x16x128xf32>
    %2 = stablehlo.multiply %0, %arg2 : tensor<8x16x128xf32>
    %3 = stablehlo.add %1, %2 : tensor<8x16x128xf32>
    return %3 : tensor<8x16x128xf32>
  }
  func.func private @_where_10(%arg0: tensor<8x4x16x16xi1>, %arg1: tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x16x16xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>
    return %1 : tensor<8x4x16x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_11(%arg0: tensor<3x128x64xf32>, %arg1: tensor<128x64xf32>, %arg2: tensor<i32>) -> tensor<3x128x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<128x64xf32>) -> tensor<1x128x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x128x64xf32>, tensor<1x128x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x128x64xf32>
    return %1 : tensor<3x128x64xf32>
  }
  func.func private @dynamic_update_index_in_dim_12(%arg0: tensor<3x64x128xf32>, %arg1: tensor<64x128xf32>, %arg2: tensor<i32>) -> tensor<3x64x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x128xf32>) -> tensor<1x64x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x64x128xf32>, tensor<1x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x64x128xf32>
    return %1 : tensor<3x64x128xf32>
  }
  func.func private @dynamic_update_index_in_dim_13(%arg0: tensor<3x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<i32>) -> tensor<3x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<3x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<3x64xf32>
    return %1 : tensor<3x64xf32>
  }
  func.func private @dynamic_update_index_in_dim_14(%arg0: tensor<3x64x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<i32>) -> tensor<3x64x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x64x64xf32>
    return %1 : tensor<3x64x64xf32>
  }
}
