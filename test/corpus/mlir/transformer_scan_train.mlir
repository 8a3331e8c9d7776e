module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>}, %arg1: tensor<4x64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, %arg2: tensor<4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg4: tensor<4x64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, %arg5: tensor<4x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, %arg6: tensor<4x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}]>}, %arg7: tensor<4x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, %arg8: tensor<4x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {"model"}]>}, %arg9: tensor<8x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<4x128x64xf32> {jax.result_info = "result['down']"}, tensor<4x64x128xf32> {jax.result_info = "result['gate']"}, tensor<4x64xf32> {jax.result_info = "result['norm1']"}, tensor<4x64xf32> {jax.result_info = "result['norm2']"}, tensor<4x64x128xf32> {jax.result_info = "result['up']"}, tensor<4x64x64xf32> {jax.result_info = "result['wk']"}, tensor<4x64x64xf32> {jax.result_info = "result['wo']"}, tensor<4x64x64xf32> {jax.result_info = "result['wq']"}, tensor<4x64x64xf32> {jax.result_info = "result['wv']"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<16x16xi1>
    %1 = call @tril(%0) : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %2:2 = call @_where(%1, %cst) : (tensor<16x16xi1>, tensor<f32>) -> (tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>)
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8x16x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8x16x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x8x16x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x1x1x64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x8x16x64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x8x16x64xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x8x16x4x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x8x16x4x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x8x4x16x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x8x4x16x1xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x8x4x16x1xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x8x4x16x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x8x16x4x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x8x16x64xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x8x16x64xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x8x16x1xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x8x16x1xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x1x1x64xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x8x16x64xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4x8x16x64xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x8x16x128xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4x8x16x128xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x8x16x128xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x8x16x128xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4x8x16x128xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<4x8x16x128xf32>
    %c_26 = stablehlo.constant dense<0> : tensor<i32>
    %29:39 = stablehlo.while(%iterArg = %arg0, %iterArg_40 = %arg1, %iterArg_41 = %arg2, %iterArg_42 = %arg3, %iterArg_43 = %arg4, %iterArg_44 = %arg5, %iterArg_45 = %arg6, %iterArg_46 = %arg7, %iterArg_47 = %arg8, %iterArg_48 = %2#0, %iterArg_49 = %2#1, %iterArg_50 = %c_26, %iterArg_51 = %arg9, %iterArg_52 = %3, %iterArg_53 = %4, %iterArg_54 = %5, %iterArg_55 = %6, %iterArg_56 = %7, %iterArg_57 = %8, %iterArg_58 = %9, %iterArg_59 = %10, %iterArg_60 = %11, %iterArg_61 = %12, %iterArg_62 = %13, %iterArg_63 = %14, %iterArg_64 = %15, %iterArg_65 = %16, %iterArg_66 = %17, %iterArg_67 = %18, %iterArg_68 = %19, %iterArg_69 = %20, %iterArg_70 = %21, %iterArg_71 = %22, %iterArg_72 = %23, %iterArg_73 = %24, %iterArg_74 = %25, %iterArg_75 = %26, %iterArg_76 = %27, %iterArg_77 = %28) : tensor<4x128x64xf32>, tensor<4x64x128xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64x128xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>, tensor<i32>, tensor<8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x1xf32>, tensor<4x8x16x1xf32>, tensor<4x1x1x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x4x16x16xf32>, tensor<4x8x4x16x1xf32>, tensor<4x8x4x16x1xf32>, tensor<4x8x4x16x16xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x1xf32>, tensor<4x8x16x1xf32>, tensor<4x1x1x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>
    cond {
      %c_78 = stablehlo.constant dense<4> : tensor<i32>
      %45 = stablehlo.compare LT, %iterArg_50, %c_78, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %45 : tensor<i1>
    } do {
      %45 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_50) : (tensor<4x128x64xf32>, tensor<i32>) -> tensor<128x64xf32>
      %46 = func.call @dynamic_index_in_dim_0(%iterArg_40, %iterArg_50) : (tensor<4x64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
      %47 = func.call @dynamic_index_in_dim_1(%iterArg_41, %iterArg_50) : (tensor<4x64xf32>, tensor<i32>) -> tensor<64xf32>
      %48 = func.call @dynamic_index_in_dim_1(%iterArg_42, %iterArg_50) : (tensor<4x64xf32>, tensor<i32>) -> tensor<64xf32>
      %49 = func.call @dynamic_index_in_dim_0(%iterArg_43, %iterArg_50) : (tensor<4x64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
      %50 = func.call @dynamic_index_in_dim_2(%iterArg_44, %iterArg_50) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %51 = func.call @dynamic_index_in_dim_2(%iterArg_45, %iterArg_50) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %52 = func.call @dynamic_index_in_dim_2(%iterArg_46, %iterArg_50) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %53 = func.call @dynamic_index_in_dim_2(%iterArg_47, %iterArg_50) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %54:27 = func.call @closed_call(%iterArg_48, %iterArg_49, %iterArg_51, %45, %46, %47, %48, %49, %50, %51, %52, %53) : (tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>, tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x1xf32>, tensor<8x16x1xf32>, tensor<1x1x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x4x16xf32>, tensor<8x16x4x16xf32>, tensor<8x4x16x16xf32>, tensor<8x4x16x1xf32>, tensor<8x4x16x1xf32>, tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x1xf32>, tensor<8x16x1xf32>, tensor<1x1x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>)
      %55 = func.call @dynamic_update_index_in_dim(%iterArg_52, %54#1, %iterArg_50) : (tensor<4x8x16x64xf32>, tensor<8x16x64xf32>, tensor<i32>) -> tensor<4x8x16x64xf32>
      %56 = func.call @dynamic_update_index_in_dim_4(%iterArg_53, %54#2, %iterArg_50) : (tensor<4x8x16x1xf32>, tensor<8x16x1xf32>, tensor<i32>) -> tensor<4x8x16x1xf32>
      %57 = func.call @dynamic_update_index_in_dim_4(%iterArg_54, %54#3, %iterArg_50) : (tensor<4x8x16x1xf32>, tensor<8x16x1xf32>, tensor<i32>) -> tensor<4x8x16x1xf32>
      %58 = func.call @dynamic_update_index_in_dim_5(%iterArg_55, %54#4, %iterArg_50) : (tensor<4x1x1x64xf32>, tensor<1x1x64xf32>, tensor<i32>) -> tensor<4x1x1x64xf32>
      %59 = func.call @dynamic_update_index_in_dim(%iterArg_56, %54#5, %iterArg_50) : (tensor<4x8x16x64xf32>, tensor<8x16x64xf32>, tensor<i32>) -> tensor<4x8x16x64xf32>
      %60 = func.call @dynamic_update_index_in_dim(%iterArg_57, %54#6, %iterArg_50) : (tensor<4x8x16x64xf32>, tensor<8x16x64xf32>, tensor<i32>) -> tensor<4x8x16x64xf32>
      %61 = func.call @dynamic_update_index_in_dim_6(%iterArg_58, %54#7, %iterArg_50) : (tensor<4x8x16x4x16xf32>, tensor<8x16x4x16xf32>, tensor<i32>) -> tensor<4x8x16x4x16xf32>
      %62 = func.call @dynamic_update_index_in_dim_6(%iterArg_59, %54#8, %iterArg_50) : (tensor<4x8x16x4x16xf32>, tensor<8x16x4x16xf32>, tensor<i32>) -> tensor<4x8x16x4x16xf32>
      %63 = func.call @dynamic_update_index_in_dim_7(%iterArg_60, %54#9, %iterArg_50) : (tensor<4x8x4x16x16xf32>, tensor<8x4x16x16xf32>, tensor<i32>) -> tensor<4x8x4x16x16xf32>
      %64 = func.call @dynamic_update_index_in_dim_8(%iterArg_61, %54#10, %iterArg_50) : (tensor<4x8x4x16x1xf32>, tensor<8x4x16x1xf32>, tensor<i32>) -> tensor<4x8x4x16x1xf32>
      %65 = func.call @dynamic_update_index_in_dim_8(%iterArg_62, %54#11, %iterArg_50) : (tensor<4x8x4x16x1xf32>, tensor<8x4x16x1xf32>, tensor<i32>) -> tensor<4x8x4x16x1xf32>
      %66 = func.call @dynamic_update_index_in_dim_7(%iterArg_63, %54#12, %iterArg_50) : (tensor<4x8x4x16x16xf32>, tensor<8x4x16x16xf32>, tensor<i32>) -> tensor<4x8x4x16x16xf32>
      %67 = func.call @dynamic_update_index_in_dim_6(%iterArg_64, %54#13, %iterArg_50) : (tensor<4x8x16x4x16xf32>, tensor<8x16x4x16xf32>, tensor<i32>) -> tensor<4x8x16x4x16xf32>
      %68 = func.call @dynamic_update_index_in_dim(%iterArg_65, %54#14, %iterArg_50) : (tensor<4x8x16x64xf32>, tensor<8x16x64xf32>, tensor<i32>) -> tensor<4x8x16x64xf32>
      %69 = func.call @dynamic_update_index_in_dim(%iterArg_66, %54#15, %iterArg_50) : (tensor<4x8x16x64xf32>, tensor<8x16x64xf32>, tensor<i32>) -> tensor<4x8x16x64xf32>
      %70 = func.call @dynamic_update_index_in_dim_4(%iterArg_67, %54#16, %iterArg_50) : (tensor<4x8x16x1xf32>, tensor<8x16x1xf32>, tensor<i32>) -> tensor<4x8x16x1xf32>
      %71 = func.call @dynamic_update_index_in_dim_4(%iterArg_68, %54#17, %iterArg_50) : (tensor<4x8x16x1xf32>, tensor<8x16x1xf32>, tensor<i32>) -> tensor<4x8x16x1xf32>
      %72 = func.call @dynamic_update_index_in_dim_5(%iterArg_69, %54#18, %iterArg_50) : (tensor<4x1x1x64xf32>, tensor<1x1x64xf32>, tensor<i32>) -> tensor<4x1x1x64xf32>
      %73 = func.call @dynamic_update_index_in_dim(%iterArg_70, %54#19, %iterArg_50) : (tensor<4x8x16x64xf32>, tensor<8x16x64xf32>, tensor<i32>) -> tensor<4x8x16x64xf32>
      %74 = func.call @dynamic_update_index_in_dim(%iterArg_71, %54#20, %iterArg_50) : (tensor<4x8x16x64xf32>, tensor<8x16x64xf32>, tensor<i32>) -> tensor<4x8x16x64xf32>
      %75 = func.call @dynamic_update_index_in_dim_9(%iterArg_72, %54#21, %iterArg_50) : (tensor<4x8x16x128xf32>, tensor<8x16x128xf32>, tensor<i32>) -> tensor<4x8x16x128xf32>
      %76 = func.call @dynamic_update_index_in_dim_9(%iterArg_73, %54#22, %iterArg_50) : (tensor<4x8x16x128xf32>, tensor<8x16x128xf32>, tensor<i32>) -> tensor<4x8x16x128xf32>
      %77 = func.call @dynamic_update_index_in_dim_9(%iterArg_74, %54#23, %iterArg_50) : (tensor<4x8x16x128xf32>, tensor<8x16x128xf32>, tensor<i32>) -> tensor<4x8x16x128xf32>
      %78 = func.call @dynamic_update_index_in_dim_9(%iterArg_75, %54#24, %iterArg_50) : (tensor<4x8x16x128xf32>, tensor<8x16x128xf32>, tensor<i32>) -> tensor<4x8x16x128xf32>
      %79 = func.call @dynamic_update_index_in_dim_9(%iterArg_76, %54#25, %iterArg_50) : (tensor<4x8x16x128xf32>, tensor<8x16x128xf32>, tensor<i32>) -> tensor<4x8x16x128xf32>
      %80 = func.call @dynamic_update_index_in_dim_9(%iterArg_77, %54#26, %iterArg_50) : (tensor<4x8x16x128xf32>, tensor<8x16x128xf32>, tensor<i32>) -> tensor<4x8x16x128xf32>
      %c_78 = stablehlo.constant dense<1> : tensor<i32>
      %81 = stablehlo.add %iterArg_50, %c_78 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_40, %iterArg_41, %iterArg_42, %iterArg_43, %iterArg_44, %iterArg_45, %iterArg_46, %iterArg_47, %iterArg_48, %iterArg_49, %81, %54#0, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80 : tensor<4x128x64xf32>, tensor<4x64x128xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64x128xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>, tensor<i32>, tensor<8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x1xf32>, tensor<4x8x16x1xf32>, tensor<4x1x1x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x4x16x16xf32>, tensor<4x8x4x16x1xf32>, tensor<4x8x4x16x1xf32>, tensor<4x8x4x16x16xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x1xf32>, tensor<4x8x16x1xf32>, tensor<4x1x1x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>
    }
    %cst_27 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    %31 = stablehlo.multiply %30, %29#12 : tensor<8x16x64xf32>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_29 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %32 = stablehlo.divide %cst_28, %cst_29 : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    %34 = stablehlo.multiply %33, %31 : tensor<8x16x64xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<4x128x64xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<4x64x128xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<4x64x128xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %c_39 = stablehlo.constant dense<0> : tensor<i32>
    %44:45 = stablehlo.while(%iterArg = %29#13, %iterArg_40 = %29#14, %iterArg_41 = %29#15, %iterArg_42 = %29#16, %iterArg_43 = %29#17, %iterArg_44 = %arg7, %iterArg_45 = %29#18, %iterArg_46 = %arg5, %iterArg_47 = %arg8, %iterArg_48 = %29#19, %iterArg_49 = %29#20, %iterArg_50 = %29#21, %iterArg_51 = %29#22, %iterArg_52 = %29#23, %iterArg_53 = %29#24, %iterArg_54 = %29#25, %iterArg_55 = %arg6, %iterArg_56 = %29#26, %iterArg_57 = %29#27, %iterArg_58 = %29#28, %iterArg_59 = %29#29, %iterArg_60 = %29#30, %iterArg_61 = %29#31, %iterArg_62 = %arg1, %iterArg_63 = %29#32, %iterArg_64 = %29#33, %iterArg_65 = %29#34, %iterArg_66 = %29#35, %iterArg_67 = %arg4, %iterArg_68 = %29#36, %iterArg_69 = %29#37, %iterArg_70 = %arg0, %iterArg_71 = %29#38, %iterArg_72 = %2#0, %iterArg_73 = %c_39, %iterArg_74 = %34, %iterArg_75 = %35, %iterArg_76 = %36, %iterArg_77 = %37, %iterArg_78 = %38, %iterArg_79 = %39, %iterArg_80 = %40, %iterArg_81 = %41, %iterArg_82 = %42, %iterArg_83 = %43) : tensor<4x8x16x64xf32>, tensor<4x8x16x1xf32>, tensor<4x8x16x1xf32>, tensor<4x1x1x64xf32>, tensor<4x8x16x64xf32>, tensor<4x64x64xf32>, tensor<4x8x16x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x4x16x16xf32>, tensor<4x8x4x16x1xf32>, tensor<4x8x4x16x1xf32>, tensor<4x8x4x16x16xf32>, tensor<4x8x16x4x16xf32>, tensor<4x64x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x1xf32>, tensor<4x8x16x1xf32>, tensor<4x1x1x64xf32>, tensor<4x8x16x64xf32>, tensor<4x64x128xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x64x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x128x64xf32>, tensor<4x8x16x128xf32>, tensor<8x4x16x16xi1>, tensor<i32>, tensor<8x16x64xf32>, tensor<4x128x64xf32>, tensor<4x64x128xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64x128xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>
    cond {
      %c_84 = stablehlo.constant dense<4> : tensor<i32>
      %45 = stablehlo.compare LT, %iterArg_73, %c_84, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %45 : tensor<i1>
    } do {
      %c_84 = stablehlo.constant dense<4> : tensor<i32>
      %45 = stablehlo.subtract %c_84, %iterArg_73 : tensor<i32>
      %c_85 = stablehlo.constant dense<1> : tensor<i32>
      %46 = stablehlo.subtract %45, %c_85 : tensor<i32>
      %47 = func.call @dynamic_index_in_dim_10(%iterArg, %46) : (tensor<4x8x16x64xf32>, tensor<i32>) -> tensor<8x16x64xf32>
      %48 = func.call @dynamic_index_in_dim_11(%iterArg_40, %46) : (tensor<4x8x16x1xf32>, tensor<i32>) -> tensor<8x16x1xf32>
      %49 = func.call @dynamic_index_in_dim_11(%iterArg_41, %46) : (tensor<4x8x16x1xf32>, tensor<i32>) -> tensor<8x16x1xf32>
      %50 = func.call @dynamic_index_in_dim_12(%iterArg_42, %46) : (tensor<4x1x1x64xf32>, tensor<i32>) -> tensor<1x1x64xf32>
      %51 = func.call @dynamic_index_in_dim_10(%iterArg_43, %46) : (tensor<4x8x16x64xf32>, tensor<i32>) -> tensor<8x16x64xf32>
      %52 = func.call @dynamic_index_in_dim_2(%iterArg_44, %46) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %53 = func.call @dynamic_index_in_dim_10(%iterArg_45, %46) : (tensor<4x8x16x64xf32>, tensor<i32>) -> tensor<8x16x64xf32>
      %54 = func.call @dynamic_index_in_dim_2(%iterArg_46, %46) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %55 = func.call @dynamic_index_in_dim_2(%iterArg_47, %46) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %56 = func.call @dynamic_index_in_dim_13(%iterArg_48, %46) : (tensor<4x8x16x4x16xf32>, tensor<i32>) -> tensor<8x16x4x16xf32>
      %57 = func.call @dynamic_index_in_dim_13(%iterArg_49, %46) : (tensor<4x8x16x4x16xf32>, tensor<i32>) -> tensor<8x16x4x16xf32>
      %58 = func.call @dynamic_index_in_dim_14(%iterArg_50, %46) : (tensor<4x8x4x16x16xf32>, tensor<i32>) -> tensor<8x4x16x16xf32>
      %59 = func.call @dynamic_index_in_dim_15(%iterArg_51, %46) : (tensor<4x8x4x16x1xf32>, tensor<i32>) -> tensor<8x4x16x1xf32>
      %60 = func.call @dynamic_index_in_dim_15(%iterArg_52, %46) : (tensor<4x8x4x16x1xf32>, tensor<i32>) -> tensor<8x4x16x1xf32>
      %61 = func.call @dynamic_index_in_dim_14(%iterArg_53, %46) : (tensor<4x8x4x16x16xf32>, tensor<i32>) -> tensor<8x4x16x16xf32>
      %62 = func.call @dynamic_index_in_dim_13(%iterArg_54, %46) : (tensor<4x8x16x4x16xf32>, tensor<i32>) -> tensor<8x16x4x16xf32>
      %63 = func.call @dynamic_index_in_dim_2(%iterArg_55, %46) : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %64 = func.call @dynamic_index_in_dim_10(%iterArg_56, %46) : (tensor<4x8x16x64xf32>, tensor<i32>) -> tensor<8x16x64xf32>
      %65 = func.call @dynamic_index_in_dim_10(%iterArg_57, %46) : (tensor<4x8x16x64xf32>, tensor<i32>) -> tensor<8x16x64xf32>
      %66 = func.call @dynamic_index_in_dim_11(%iterArg_58, %46) : (tensor<4x8x16x1xf32>, tensor<i32>) -> tensor<8x16x1xf32>
      %67 = func.call @dynamic_index_in_dim_11(%iterArg_59, %46) : (tensor<4x8x16x1xf32>, tensor<i32>) -> tensor<8x16x1xf32>
      %68 = func.call @dynamic_index_in_dim_12(%iterArg_60, %46) : (tensor<4x1x1x64xf32>, tensor<i32>) -> tensor<1x1x64xf32>
      %69 = func.call @dynamic_index_in_dim_10(%iterArg_61, %46) : (tensor<4x8x16x64xf32>, tensor<i32>) -> tensor<8x16x64xf32>
      %70 = func.call @dynamic_index_in_dim_0(%iterArg_62, %46) : (tensor<4x64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
      %71 = func.call @dynamic_index_in_dim_10(%iterArg_63, %46) : (tensor<4x8x16x64xf32>, tensor<i32>) -> tensor<8x16x64xf32>
      %72 = func.call @dynamic_index_in_dim_16(%iterArg_64, %46) : (tensor<4x8x16x128xf32>, tensor<i32>) -> tensor<8x16x128xf32>
      %73 = func.call @dynamic_index_in_dim_16(%iterArg_65, %46) : (tensor<4x8x16x128xf32>, tensor<i32>) -> tensor<8x16x128xf32>
      %74 = func.call @dynamic_index_in_dim_16(%iterArg_66, %46) : (tensor<4x8x16x128xf32>, tensor<i32>) -> tensor<8x16x128xf32>
      %75 = func.call @dynamic_index_in_dim_0(%iterArg_67, %46) : (tensor<4x64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
      %76 = func.call @dynamic_index_in_dim_16(%iterArg_68, %46) : (tensor<4x8x16x128xf32>, tensor<i32>) -> tensor<8x16x128xf32>
      %77 = func.call @dynamic_index_in_dim_16(%iterArg_69, %46) : (tensor<4x8x16x128xf32>, tensor<i32>) -> tensor<8x16x128xf32>
      %78 = func.call @dynamic_index_in_dim(%iterArg_70, %46) : (tensor<4x128x64xf32>, tensor<i32>) -> tensor<128x64xf32>
      %79 = func.call @dynamic_index_in_dim_16(%iterArg_71, %46) : (tensor<4x8x16x128xf32>, tensor<i32>) -> tensor<8x16x128xf32>
      %80:10 = func.call @closed_call_17(%iterArg_72, %iterArg_74, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79) : (tensor<8x4x16x16xi1>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x1xf32>, tensor<8x16x1xf32>, tensor<1x1x64xf32>, tensor<8x16x64xf32>, tensor<64x64xf32>, tensor<8x16x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<8x16x4x16xf32>, tensor<8x16x4x16xf32>, tensor<8x4x16x16xf32>, tensor<8x4x16x1xf32>, tensor<8x4x16x1xf32>, tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>, tensor<64x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x1xf32>, tensor<8x16x1xf32>, tensor<1x1x64xf32>, tensor<8x16x64xf32>, tensor<64x128xf32>, tensor<8x16x64xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<64x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<128x64xf32>, tensor<8x16x128xf32>) -> (tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
      %81 = func.call @dynamic_update_index_in_dim_20(%iterArg_75, %80#1, %46) : (tensor<4x128x64xf32>, tensor<128x64xf32>, tensor<i32>) -> tensor<4x128x64xf32>
      %82 = func.call @dynamic_update_index_in_dim_21(%iterArg_76, %80#2, %46) : (tensor<4x64x128xf32>, tensor<64x128xf32>, tensor<i32>) -> tensor<4x64x128xf32>
      %83 = func.call @dynamic_update_index_in_dim_22(%iterArg_77, %80#3, %46) : (tensor<4x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<4x64xf32>
      %84 = func.call @dynamic_update_index_in_dim_22(%iterArg_78, %80#4, %46) : (tensor<4x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<4x64xf32>
      %85 = func.call @dynamic_update_index_in_dim_21(%iterArg_79, %80#5, %46) : (tensor<4x64x128xf32>, tensor<64x128xf32>, tensor<i32>) -> tensor<4x64x128xf32>
      %86 = func.call @dynamic_update_index_in_dim_23(%iterArg_80, %80#6, %46) : (tensor<4x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<4x64x64xf32>
      %87 = func.call @dynamic_update_index_in_dim_23(%iterArg_81, %80#7, %46) : (tensor<4x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<4x64x64xf32>
      %88 = func.call @dynamic_update_index_in_dim_23(%iterArg_82, %80#8, %46) : (tensor<4x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<4x64x64xf32>
      %89 = func.call @dynamic_update_index_in_dim_23(%iterArg_83, %80#9, %46) : (tensor<4x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<4x64x64xf32>
      %c_86 = stablehlo.constant dense<1> : tensor<i32>
      %90 = stablehlo.add %iterArg_73, %c_86 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_40, %iterArg_41, %iterArg_42, %iterArg_43, %iterArg_44, %iterArg_45, %iterArg_46, %iterArg_47, %iterArg_48, %iterArg_49, %iterArg_50, %iterArg_51, %iterArg_52, %iterArg_53, %iterArg_54, %iterArg_55, %iterArg_56, %iterArg_57, %iterArg_58, %iterArg_59, %iterArg_60, %iterArg_61, %iterArg_62, %iterArg_63, %iterArg_64, %iterArg_65, %iterArg_66, %iterArg_67, %iterArg_68, %iterArg_69, %iterArg_70, %iterArg_71, %iterArg_72, %90, %80#0, %81, %82, %83, %84, %85, %86, %87, %88, %89 : tensor<4x8x16x64xf32>, tensor<4x8x16x1xf32>, tensor<4x8x16x1xf32>, tensor<4x1x1x64xf32>, tensor<4x8x16x64xf32>, tensor<4x64x64xf32>, tensor<4x8x16x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x16x4x16xf32>, tensor<4x8x4x16x16xf32>, tensor<4x8x4x16x1xf32>, tensor<4x8x4x16x1xf32>, tensor<4x8x4x16x16xf32>, tensor<4x8x16x4x16xf32>, tensor<4x64x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x1xf32>, tensor<4x8x16x1xf32>, tensor<4x1x1x64xf32>, tensor<4x8x16x64xf32>, tensor<4x64x128xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x64x128xf32>, tensor<4x8x16x128xf32>, tensor<4x8x16x128xf32>, tensor<4x128x64xf32>, tensor<4x8x16x128xf32>, tensor<8x4x16x16xi1>, tensor<i32>, tensor<8x16x64xf32>, tensor<4x128x64xf32>, tensor<4x64x128xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64x128xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>
    }
    return %44#36, %44#37, %44#38, %44#39, %44#40, %44#41, %44#42, %44#43, %44#44 : tensor<4x128x64xf32>, tensor<4x64x128xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64x128xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x64xf32>
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
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x128x64xf32>, %arg1: tensor<i32>) -> tensor<128x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 128, 64] : (tensor<4x128x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x128x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x128x64xf32>) -> tensor<128x64xf32>
    return %1 : tensor<128x64xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x64x128xf32>, %arg1: tensor<i32>) -> tensor<64x128xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 128] : (tensor<4x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    return %1 : tensor<64x128xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<4x64xf32>, %arg1: tensor<i32>) -> tensor<64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 64] : (tensor<4x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64xf32>) -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<4x64x64xf32>, %arg1: tensor<i32>) -> tensor<64x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 64] : (tensor<4x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x4x16x16xi1>, %arg1: tensor<8x4x16x16xf32>, %arg2: tensor<8x16x64xf32>, %arg3: tensor<128x64xf32>, %arg4: tensor<64x128xf32>, %arg5: tensor<64xf32>, %arg6: tensor<64xf32>, %arg7: tensor<64x128xf32>, %arg8: tensor<64x64xf32>, %arg9: tensor<64x64xf32>, %arg10: tensor<64x64xf32>, %arg11: tensor<64x64xf32>) -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x1xf32>, tensor<8x16x1xf32>, tensor<1x1x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x4x16xf32>, tensor<8x16x4x16xf32>, tensor<8x4x16x16xf32>, tensor<8x4x16x1xf32>, tensor<8x4x16x1xf32>, tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x1xf32>, tensor<8x16x1xf32>, tensor<1x1x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>) {
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
    %8 = stablehlo.divide %7, %6 : tensor<8x16x1xf32>
    %cst_2 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %10 = stablehlo.multiply %9, %8 : tensor<8x16x1xf32>
    %11 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %12 = stablehlo.multiply %arg2, %11 : tensor<8x16x64xf32>
    %13 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %15 = stablehlo.multiply %12, %14 : tensor<8x16x64xf32>
    %16 = stablehlo.dot_general %15, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %17 = stablehlo.reshape %16 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %18 = stablehlo.dot_general %15, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %19 = stablehlo.reshape %18 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %20 = stablehlo.dot_general %15, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %21 = stablehlo.reshape %20 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %22 = stablehlo.dot_general %17, %19, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x4x16x16xf32>
    %24 = stablehlo.divide %22, %23 : tensor<8x4x16x16xf32>
    %25 = call @_where_3(%24, %arg0, %arg1) : (tensor<8x4x16x16xf32>, tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x16x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x4x16xf32>
    %28 = stablehlo.maximum %27, %26 : tensor<8x4x16xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<8x4x16xf32>) -> tensor<8x4x16x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %31 = stablehlo.subtract %25, %30 : tensor<8x4x16x16xf32>
    %32 = stablehlo.exponential %31 : tensor<8x4x16x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<8x4x16x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<8x4x16xf32>) -> tensor<8x4x16x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %36 = stablehlo.divide %32, %35 : tensor<8x4x16x16xf32>
    %37 = stablehlo.multiply %34, %34 : tensor<8x4x16x1xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x4x16x1xf32>
    %39 = stablehlo.divide %38, %37 : tensor<8x4x16x1xf32>
    %40 = stablehlo.dot_general %21, %36, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x16xf32>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    %41 = stablehlo.transpose %40, dims = [0, 3, 1, 2] : (tensor<8x4x16x16xf32>) -> tensor<8x16x4x16xf32>
    %42 = stablehlo.reshape %41 : (tensor<8x16x4x16xf32>) -> tensor<8x16x64xf32>
    %43 = stablehlo.dot_general %42, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %44 = stablehlo.add %arg2, %43 : tensor<8x16x64xf32>
    %45 = stablehlo.multiply %44, %44 : tensor<8x16x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_9 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %49 = stablehlo.divide %47, %48 : tensor<8x16x1xf32>
    %cst_10 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %51 = stablehlo.add %49, %50 : tensor<8x16x1xf32>
    %52 = stablehlo.rsqrt %51 : tensor<8x16x1xf32>
    %53 = stablehlo.divide %52, %51 : tensor<8x16x1xf32>
    %cst_11 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %55 = stablehlo.multiply %54, %53 : tensor<8x16x1xf32>
    %56 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %57 = stablehlo.multiply %44, %56 : tensor<8x16x64xf32>
    %58 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %60 = stablehlo.multiply %57, %59 : tensor<8x16x64xf32>
    %61 = stablehlo.dot_general %60, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x128xf32>) -> tensor<8x16x128xf32>
    %62:3 = call @silu(%61) : (tensor<8x16x128xf32>) -> (tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>)
    %63 = stablehlo.dot_general %60, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x128xf32>) -> tensor<8x16x128xf32>
    %64 = stablehlo.multiply %62#0, %63 : tensor<8x16x128xf32>
    %65 = stablehlo.dot_general %64, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<128x64xf32>) -> tensor<8x16x64xf32>
    %66 = stablehlo.add %44, %65 : tensor<8x16x64xf32>
    return %66, %arg2, %10, %7, %13, %12, %15, %19, %17, %32, %34, %39, %36, %21, %42, %44, %55, %52, %58, %57, %60, %62#1, %62#2, %61, %63, %62#0, %64 : tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x1xf32>, tensor<8x16x1xf32>, tensor<1x1x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x4x16xf32>, tensor<8x16x4x16xf32>, tensor<8x4x16x16xf32>, tensor<8x4x16x1xf32>, tensor<8x4x16x1xf32>, tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x1xf32>, tensor<8x16x1xf32>, tensor<1x1x64xf32>, tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>
  }
  func.func private @_where_3(%arg0: tensor<8x4x16x16xf32>, %arg1: tensor<8x4x16x16xi1>, %arg2: tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32> {
    %0 = stablehlo.select %arg1, %arg0, %arg2 : tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>
    return %0 : tensor<8x4x16x16xf32>
  }
  func.func private @silu(%arg0: tensor<8x16x128xf32>) -> (tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>) {
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
    return %9, %8, %5 : tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x8x16x64xf32>, %arg1: tensor<8x16x64xf32>, %arg2: tensor<i32>) -> tensor<4x8x16x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<8x16x64xf32>) -> tensor<1x8x16x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x8x16x64xf32>, tensor<1x8x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x16x64xf32>
    return %1 : tensor<4x8x16x64xf32>
  }
  func.func private @dynamic_update_index_in_dim_4(%arg0: tensor<4x8x16x1xf32>, %arg1: tensor<8x16x1xf32>, %arg2: tensor<i32>) -> tensor<4x8x16x1xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<8x16x1xf32>) -> tensor<1x8x16x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x8x16x1xf32>, tensor<1x8x16x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x16x1xf32>
    return %1 : tensor<4x8x16x1xf32>
  }
  func.func private @dynamic_update_index_in_dim_5(%arg0: tensor<4x1x1x64xf32>, %arg1: tensor<1x1x64xf32>, %arg2: tensor<i32>) -> tensor<4x1x1x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<1x1x64xf32>) -> tensor<1x1x1x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x1x1x64xf32>, tensor<1x1x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x1x1x64xf32>
    return %1 : tensor<4x1x1x64xf32>
  }
  func.func private @dynamic_update_index_in_dim_6(%arg0: tensor<4x8x16x4x16xf32>, %arg1: tensor<8x16x4x16xf32>, %arg2: tensor<i32>) -> tensor<4x8x16x4x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<8x16x4x16xf32>) -> tensor<1x8x16x4x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<4x8x16x4x16xf32>, tensor<1x8x16x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x16x4x16xf32>
    return %1 : tensor<4x8x16x4x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_7(%arg0: tensor<4x8x4x16x16xf32>, %arg1: tensor<8x4x16x16xf32>, %arg2: tensor<i32>) -> tensor<4x8x4x16x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<8x4x16x16xf32>) -> tensor<1x8x4x16x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<4x8x4x16x16xf32>, tensor<1x8x4x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x4x16x16xf32>
    return %1 : tensor<4x8x4x16x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_8(%arg0: tensor<4x8x4x16x1xf32>, %arg1: tensor<8x4x16x1xf32>, %arg2: tensor<i32>) -> tensor<4x8x4x16x1xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<8x4x16x1xf32>) -> tensor<1x8x4x16x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<4x8x4x16x1xf32>, tensor<1x8x4x16x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x4x16x1xf32>
    return %1 : tensor<4x8x4x16x1xf32>
  }
  func.func private @dynamic_update_index_in_dim_9(%arg0: tensor<4x8x16x128xf32>, %arg1: tensor<8x16x128xf32>, %arg2: tensor<i32>) -> tensor<4x8x16x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<8x16x128xf32>) -> tensor<1x8x16x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<4x8x16x128xf32>, tensor<1x8x16x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x16x128xf32>
    return %1 : tensor<4x8x16x128xf32>
  }
  func.func private @dynamic_index_in_dim_10(%arg0: tensor<4x8x16x64xf32>, %arg1: tensor<i32>) -> tensor<8x16x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 8, 16, 64] : (tensor<4x8x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16x64xf32>) -> tensor<8x16x64xf32>
    return %1 : tensor<8x16x64xf32>
  }
  func.func private @dynamic_index_in_dim_11(%arg0: tensor<4x8x16x1xf32>, %arg1: tensor<i32>) -> tensor<8x16x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 8, 16, 1] : (tensor<4x8x16x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16x1xf32>) -> tensor<8x16x1xf32>
    return %1 : tensor<8x16x1xf32>
  }
  func.func private @dynamic_index_in_dim_12(%arg0: tensor<4x1x1x64xf32>, %arg1: tensor<i32>) -> tensor<1x1x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 1, 1, 64] : (tensor<4x1x1x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1x64xf32>) -> tensor<1x1x64xf32>
    return %1 : tensor<1x1x64xf32>
  }
  func.func private @dynamic_index_in_dim_13(%arg0: tensor<4x8x16x4x16xf32>, %arg1: tensor<i32>) -> tensor<8x16x4x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 8, 16, 4, 16] : (tensor<4x8x16x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16x4x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16x4x16xf32>) -> tensor<8x16x4x16xf32>
    return %1 : tensor<8x16x4x16xf32>
  }
  func.func private @dynamic_index_in_dim_14(%arg0: tensor<4x8x4x16x16xf32>, %arg1: tensor<i32>) -> tensor<8x4x16x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 8, 4, 16, 16] : (tensor<4x8x4x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4x16x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    return %1 : tensor<8x4x16x16xf32>
  }
  func.func private @dynamic_index_in_dim_15(%arg0: tensor<4x8x4x16x1xf32>, %arg1: tensor<i32>) -> tensor<8x4x16x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 8, 4, 16, 1] : (tensor<4x8x4x16x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4x16x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x4x16x1xf32>) -> tensor<8x4x16x1xf32>
    return %1 : tensor<8x4x16x1xf32>
  }
  func.func private @dynamic_index_in_dim_16(%arg0: tensor<4x8x16x128xf32>, %arg1: tensor<i32>) -> tensor<8x16x128xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 8, 16, 128] : (tensor<4x8x16x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16x128xf32>) -> tensor<8x16x128xf32>
    return %1 : tensor<8x16x128xf32>
  }
  func.func private @closed_call_17(%arg0: tensor<8x4x16x16xi1>, %arg1: tensor<8x16x64xf32>, %arg2: tensor<8x16x64xf32>, %arg3: tensor<8x16x1xf32>, %arg4: tensor<8x16x1xf32>, %arg5: tensor<1x1x64xf32>, %arg6: tensor<8x16x64xf32>, %arg7: tensor<64x64xf32>, %arg8: tensor<8x16x64xf32>, %arg9: tensor<64x64xf32>, %arg10: tensor<64x64xf32>, %arg11: tensor<8x16x4x16xf32>, %arg12: tensor<8x16x4x16xf32>, %arg13: tensor<8x4x16x16xf32>, %arg14: tensor<8x4x16x1xf32>, %arg15: tensor<8x4x16x1xf32>, %arg16: tensor<8x4x16x16xf32>, %arg17: tensor<8x16x4x16xf32>, %arg18: tensor<64x64xf32>, %arg19: tensor<8x16x64xf32>, %arg20: tensor<8x16x64xf32>, %arg21: tensor<8x16x1xf32>, %arg22: tensor<8x16x1xf32>, %arg23: tensor<1x1x64xf32>, %arg24: tensor<8x16x64xf32>, %arg25: tensor<64x128xf32>, %arg26: tensor<8x16x64xf32>, %arg27: tensor<8x16x128xf32>, %arg28: tensor<8x16x128xf32>, %arg29: tensor<8x16x128xf32>, %arg30: tensor<64x128xf32>, %arg31: tensor<8x16x128xf32>, %arg32: tensor<8x16x128xf32>, %arg33: tensor<128x64xf32>, %arg34: tensor<8x16x128xf32>) -> (tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg34, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x128xf32>) -> tensor<64x128xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<64x128xf32>) -> tensor<128x64xf32>
    %2 = stablehlo.dot_general %arg1, %arg33, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<128x64xf32>) -> tensor<8x16x128xf32>
    %3 = stablehlo.multiply %arg32, %2 : tensor<8x16x128xf32>
    %4 = stablehlo.multiply %2, %arg31 : tensor<8x16x128xf32>
    %5 = stablehlo.dot_general %3, %arg26, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<8x16x64xf32>) -> tensor<128x64xf32>
    %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %7 = stablehlo.dot_general %3, %arg30, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<64x128xf32>) -> tensor<8x16x64xf32>
    %8 = call @silu_18(%arg27, %arg28, %arg29, %4) : (tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>, tensor<8x16x128xf32>) -> tensor<8x16x128xf32>
    %9 = stablehlo.dot_general %8, %arg26, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<8x16x64xf32>) -> tensor<128x64xf32>
    %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %11 = stablehlo.dot_general %8, %arg25, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x128xf32>, tensor<64x128xf32>) -> tensor<8x16x64xf32>
    %12 = stablehlo.add %7, %11 : tensor<8x16x64xf32>
    %13 = stablehlo.multiply %arg24, %12 : tensor<8x16x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<64xf32>
    %15 = stablehlo.reshape %14 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %16 = stablehlo.broadcast_in_dim %arg23, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %17 = stablehlo.multiply %12, %16 : tensor<8x16x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%15 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %19 = stablehlo.multiply %arg20, %17 : tensor<8x16x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %21 = stablehlo.reshape %20 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %22 = stablehlo.broadcast_in_dim %arg22, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %23 = stablehlo.multiply %17, %22 : tensor<8x16x64xf32>
    %24 = stablehlo.add %arg1, %23 : tensor<8x16x64xf32>
    %25 = stablehlo.multiply %21, %arg21 : tensor<8x16x1xf32>
    %cst_2 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %27 = stablehlo.divide %25, %26 : tensor<8x16x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x64xf32>
    %30 = stablehlo.multiply %arg20, %29 : tensor<8x16x64xf32>
    %31 = stablehlo.add %24, %30 : tensor<8x16x64xf32>
    %32 = stablehlo.multiply %29, %arg20 : tensor<8x16x64xf32>
    %33 = stablehlo.add %31, %32 : tensor<8x16x64xf32>
    %34 = stablehlo.dot_general %33, %arg19, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<64x64xf32>
    %35 = stablehlo.transpose %34, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %36 = stablehlo.dot_general %33, %arg18, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %37 = stablehlo.reshape %36 : (tensor<8x16x64xf32>) -> tensor<8x16x4x16xf32>
    %38 = stablehlo.transpose %37, dims = [0, 2, 3, 1] : (tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %39 = stablehlo.dot_general %38, %arg17, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %40 = stablehlo.dot_general %38, %arg16, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16xf32>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    %41 = stablehlo.transpose %40, dims = [0, 3, 1, 2] : (tensor<8x4x16x16xf32>) -> tensor<8x16x4x16xf32>
    %42 = stablehlo.broadcast_in_dim %arg15, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %43 = stablehlo.multiply %39, %42 : tensor<8x4x16x16xf32>
    %44 = stablehlo.multiply %43, %arg13 : tensor<8x4x16x16xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<8x4x16x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %46 = stablehlo.reshape %45 : (tensor<8x4x16xf32>) -> tensor<8x4x16x1xf32>
    %47 = stablehlo.negate %46 : tensor<8x4x16x1xf32>
    %48 = stablehlo.broadcast_in_dim %arg14, dims = [0, 1, 2, 3] : (tensor<8x4x16x1xf32>) -> tensor<8x4x16x16xf32>
    %49 = stablehlo.divide %39, %48 : tensor<8x4x16x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%47 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<8x4x16x1xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<8x4x16xf32>) -> tensor<8x4x16x16xf32>
    %52 = stablehlo.add %49, %51 : tensor<8x4x16x16xf32>
    %53 = stablehlo.multiply %52, %arg13 : tensor<8x4x16x16xf32>
    %54 = call @_where_19(%arg0, %53) : (tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
    %cst_6 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x4x16x16xf32>
    %56 = stablehlo.divide %54, %55 : tensor<8x4x16x16xf32>
    %57 = stablehlo.dot_general %56, %arg12, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %58 = stablehlo.transpose %57, dims = [0, 2, 1, 3] : (tensor<8x4x16x16xf32>) -> tensor<8x16x4x16xf32>
    %59 = stablehlo.dot_general %56, %arg11, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x16xf32>, tensor<8x16x4x16xf32>) -> tensor<8x4x16x16xf32>
    %60 = stablehlo.transpose %59, dims = [0, 2, 1, 3] : (tensor<8x4x16x16xf32>) -> tensor<8x16x4x16xf32>
    %61 = stablehlo.reshape %41 : (tensor<8x16x4x16xf32>) -> tensor<8x16x64xf32>
    %62 = stablehlo.dot_general %61, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<64x64xf32>
    %63 = stablehlo.transpose %62, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %64 = stablehlo.dot_general %61, %arg10, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %65 = stablehlo.reshape %58 : (tensor<8x16x4x16xf32>) -> tensor<8x16x64xf32>
    %66 = stablehlo.dot_general %65, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<64x64xf32>
    %67 = stablehlo.transpose %66, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %68 = stablehlo.dot_general %65, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %69 = stablehlo.add %64, %68 : tensor<8x16x64xf32>
    %70 = stablehlo.reshape %60 : (tensor<8x16x4x16xf32>) -> tensor<8x16x64xf32>
    %71 = stablehlo.dot_general %70, %arg8, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<64x64xf32>
    %72 = stablehlo.transpose %71, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %73 = stablehlo.dot_general %70, %arg7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %74 = stablehlo.add %69, %73 : tensor<8x16x64xf32>
    %75 = stablehlo.multiply %arg6, %74 : tensor<8x16x64xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %76 = stablehlo.reduce(%75 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<64xf32>
    %77 = stablehlo.reshape %76 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %78 = stablehlo.broadcast_in_dim %arg5, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x16x64xf32>
    %79 = stablehlo.multiply %74, %78 : tensor<8x16x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.reduce(%77 init: %cst_8) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %81 = stablehlo.multiply %arg2, %79 : tensor<8x16x64xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %82 = stablehlo.reduce(%81 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %83 = stablehlo.reshape %82 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %84 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %85 = stablehlo.multiply %79, %84 : tensor<8x16x64xf32>
    %86 = stablehlo.add %33, %85 : tensor<8x16x64xf32>
    %87 = stablehlo.multiply %83, %arg3 : tensor<8x16x1xf32>
    %cst_10 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %89 = stablehlo.divide %87, %88 : tensor<8x16x1xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.reduce(%89 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x64xf32>
    %92 = stablehlo.multiply %arg2, %91 : tensor<8x16x64xf32>
    %93 = stablehlo.add %86, %92 : tensor<8x16x64xf32>
    %94 = stablehlo.multiply %91, %arg2 : tensor<8x16x64xf32>
    %95 = stablehlo.add %93, %94 : tensor<8x16x64xf32>
    return %95, %1, %10, %80, %18, %6, %67, %35, %72, %63 : tensor<8x16x64xf32>, tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  func.func private @silu_18(%arg0: tensor<8x16x128xf32>, %arg1: tensor<8x16x128xf32>, %arg2: tensor<8x16x128xf32>, %arg3: tensor<8x16x128xf32>) -> tensor<8x16x128xf32> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<8x16x128xf32>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<8x16x128xf32>
    %2 = stablehlo.multiply %0, %arg0 : tensor<8x16x128xf32>
    %3 = stablehlo.add %1, %2 : tensor<8x16x128xf32>
    return %3 : tensor<8x16x128xf32>
  }
  func.func private @_where_19(%arg0: tensor<8x4x16x16xi1>, %arg1: tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x16x16xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<8x4x16x16xi1>, tensor<8x4x16x16xf32>
    return %1 : tensor<8x4x16x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_20(%arg0: tensor<4x128x64xf32>, %arg1: tensor<128x64xf32>, %arg2: tensor<i32>) -> tensor<4x128x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<128x64xf32>) -> tensor<1x128x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x128x64xf32>, tensor<1x128x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x128x64xf32>
    return %1 : tensor<4x128x64xf32>
  }
  func.func private @dynamic_update_index_in_dim_21(%arg0: tensor<4x64x128xf32>, %arg1: tensor<64x128xf32>, %arg2: tensor<i32>) -> tensor<4x64x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x128xf32>) -> tensor<1x64x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x64x128xf32>, tensor<1x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x128xf32>
    return %1 : tensor<4x64x128xf32>
  }
  func.func private @dynamic_update_index_in_dim_22(%arg0: tensor<4x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<i32>) -> tensor<4x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<4x64xf32>
    return %1 : tensor<4x64xf32>
  }
  func.func private @dynamic_update_index_in_dim_23(%arg0: tensor<4x64x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<i32>) -> tensor<4x64x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x64xf32>
    return %1 : tensor<4x64x64xf32>
  }
}
