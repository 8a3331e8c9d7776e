module @jit_loss attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg1: tensor<6x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}]>}) -> (tensor<32x64xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x8x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %13:17 = stablehlo.while(%iterArg = %arg1, %iterArg_16 = %arg0, %iterArg_17 = %c, %iterArg_18 = %0, %iterArg_19 = %0, %iterArg_20 = %1, %iterArg_21 = %2, %iterArg_22 = %3, %iterArg_23 = %4, %iterArg_24 = %5, %iterArg_25 = %6, %iterArg_26 = %7, %iterArg_27 = %8, %iterArg_28 = %9, %iterArg_29 = %10, %iterArg_30 = %11, %iterArg_31 = %12) : tensor<6x8x16xf32>, tensor<32x64xf32>, tensor<i32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<6x8x32xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>
    cond {
      %c_32 = stablehlo.constant dense<6> : tensor<i32>
      %18 = stablehlo.compare LT, %iterArg_17, %c_32, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %18 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_17) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %19:14 = func.call @closed_call(%iterArg_16, %iterArg_18, %iterArg_19, %18) : (tensor<32x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
      %20 = func.call @dynamic_update_index_in_dim(%iterArg_20, %19#2, %iterArg_17) : (tensor<6x8x32xf32>, tensor<8x32xf32>, tensor<i32>) -> tensor<6x8x32xf32>
      %21 = func.call @dynamic_update_index_in_dim_0(%iterArg_21, %19#3, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %22 = func.call @dynamic_update_index_in_dim_0(%iterArg_22, %19#4, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %23 = func.call @dynamic_update_index_in_dim_0(%iterArg_23, %19#5, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %24 = func.call @dynamic_update_index_in_dim_0(%iterArg_24, %19#6, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %25 = func.call @dynamic_update_index_in_dim_0(%iterArg_25, %19#7, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %26 = func.call @dynamic_update_index_in_dim_0(%iterArg_26, %19#8, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %27 = func.call @dynamic_update_index_in_dim_0(%iterArg_27, %19#9, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %28 = func.call @dynamic_update_index_in_dim_0(%iterArg_28, %19#10, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %29 = func.call @dynamic_update_index_in_dim_0(%iterArg_29, %19#11, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %30 = func.call @dynamic_update_index_in_dim_0(%iterArg_30, %19#12, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %31 = func.call @dynamic_update_index_in_dim_0(%iterArg_31, %19#13, %iterArg_17) : (tensor<6x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<6x8x16xf32>
      %c_32 = stablehlo.constant dense<1> : tensor<i32>
      %32 = stablehlo.add %iterArg_17, %c_32 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_16, %32, %19#0, %19#1, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31 : tensor<6x8x16xf32>, tensor<32x64xf32>, tensor<i32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<6x8x32xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>
    }
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %17:17 = stablehlo.while(%iterArg = %13#5, %iterArg_16 = %13#6, %iterArg_17 = %13#7, %iterArg_18 = %13#8, %iterArg_19 = %13#9, %iterArg_20 = %13#10, %iterArg_21 = %13#11, %iterArg_22 = %13#12, %iterArg_23 = %13#13, %iterArg_24 = %13#14, %iterArg_25 = %13#15, %iterArg_26 = %13#16, %iterArg_27 = %arg0, %iterArg_28 = %c_15, %iterArg_29 = %16, %iterArg_30 = %14, %iterArg_31 = %15) : tensor<6x8x32xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<32x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>
    cond {
      %c_32 = stablehlo.constant dense<6> : tensor<i32>
      %18 = stablehlo.compare LT, %iterArg_28, %c_32, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %c_32 = stablehlo.constant dense<6> : tensor<i32>
      %18 = stablehlo.subtract %c_32, %iterArg_28 : tensor<i32>
      %c_33 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.subtract %18, %c_33 : tensor<i32>
      %20 = func.call @dynamic_index_in_dim_1(%iterArg, %19) : (tensor<6x8x32xf32>, tensor<i32>) -> tensor<8x32xf32>
      %21 = func.call @dynamic_index_in_dim(%iterArg_16, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %22 = func.call @dynamic_index_in_dim(%iterArg_17, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %23 = func.call @dynamic_index_in_dim(%iterArg_18, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %24 = func.call @dynamic_index_in_dim(%iterArg_19, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %25 = func.call @dynamic_index_in_dim(%iterArg_20, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %26 = func.call @dynamic_index_in_dim(%iterArg_21, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %27 = func.call @dynamic_index_in_dim(%iterArg_22, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %28 = func.call @dynamic_index_in_dim(%iterArg_23, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %29 = func.call @dynamic_index_in_dim(%iterArg_24, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %30 = func.call @dynamic_index_in_dim(%iterArg_25, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %31 = func.call @dynamic_index_in_dim(%iterArg_26, %19) : (tensor<6x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %32:3 = func.call @closed_call_2(%iterArg_27, %iterArg_29, %iterArg_30, %iterArg_31, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31) : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<32x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
      %c_34 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.add %iterArg_28, %c_34 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %iterArg_24, %iterArg_25, %iterArg_26, %iterArg_27, %33, %32#0, %32#1, %32#2 : tensor<6x8x32xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<32x64xf32>, tensor<i32>, tensor<32x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>
    }
    return %17#14 : tensor<32x64xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x8x16xf32>, %arg1: tensor<i32>) -> tensor<8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 16] : (tensor<6x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<32x64xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<8x16xf32>, %arg3: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = stablehlo.concatenate %arg3, %arg1, dim = 1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
    %2 = stablehlo.slice %1 [0:8, 0:16] : (tensor<8x64xf32>) -> tensor<8x16xf32>
    %3 = stablehlo.slice %1 [0:8, 16:32] : (tensor<8x64xf32>) -> tensor<8x16xf32>
    %4 = stablehlo.slice %1 [0:8, 32:48] : (tensor<8x64xf32>) -> tensor<8x16xf32>
    %5 = stablehlo.slice %1 [0:8, 48:64] : (tensor<8x64xf32>) -> tensor<8x16xf32>
    %6 = stablehlo.negate %3 : tensor<8x16xf32>
    %7 = stablehlo.exponential %6 : tensor<8x16xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %9 = stablehlo.add %8, %7 : tensor<8x16xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %11 = stablehlo.divide %10, %9 : tensor<8x16xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %13 = stablehlo.subtract %12, %11 : tensor<8x16xf32>
    %14 = stablehlo.multiply %11, %13 : tensor<8x16xf32>
    %15 = stablehlo.multiply %11, %arg2 : tensor<8x16xf32>
    %16 = stablehlo.negate %2 : tensor<8x16xf32>
    %17 = stablehlo.exponential %16 : tensor<8x16xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %19 = stablehlo.add %18, %17 : tensor<8x16xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %21 = stablehlo.divide %20, %19 : tensor<8x16xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %23 = stablehlo.subtract %22, %21 : tensor<8x16xf32>
    %24 = stablehlo.multiply %21, %23 : tensor<8x16xf32>
    %25 = stablehlo.tanh %4 : tensor<8x16xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %27 = stablehlo.subtract %26, %25 : tensor<8x16xf32>
    %28 = stablehlo.multiply %21, %25 : tensor<8x16xf32>
    %29 = stablehlo.add %15, %28 : tensor<8x16xf32>
    %30 = stablehlo.negate %5 : tensor<8x16xf32>
    %31 = stablehlo.exponential %30 : tensor<8x16xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %33 = stablehlo.add %32, %31 : tensor<8x16xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %35 = stablehlo.divide %34, %33 : tensor<8x16xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %37 = stablehlo.subtract %36, %35 : tensor<8x16xf32>
    %38 = stablehlo.multiply %35, %37 : tensor<8x16xf32>
    %39 = stablehlo.tanh %29 : tensor<8x16xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %41 = stablehlo.subtract %40, %39 : tensor<8x16xf32>
    %42 = stablehlo.multiply %35, %39 : tensor<8x16xf32>
    return %42, %29, %0, %14, %arg2, %11, %24, %25, %27, %21, %38, %39, %41, %35 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x32xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x8x32xf32>, %arg1: tensor<8x32xf32>, %arg2: tensor<i32>) -> tensor<6x8x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x32xf32>) -> tensor<1x8x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x8x32xf32>, tensor<1x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x8x32xf32>
    return %1 : tensor<6x8x32xf32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<6x8x16xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<i32>) -> tensor<6x8x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x8x16xf32>
    return %1 : tensor<6x8x16xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<6x8x32xf32>, %arg1: tensor<i32>) -> tensor<8x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 32] : (tensor<6x8x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x32xf32>) -> tensor<8x32xf32>
    return %1 : tensor<8x32xf32>
  }
  func.func private @closed_call_2(%arg0: tensor<32x64xf32>, %arg1: tensor<32x64xf32>, %arg2: tensor<8x16xf32>, %arg3: tensor<8x16xf32>, %arg4: tensor<8x32xf32>, %arg5: tensor<8x16xf32>, %arg6: tensor<8x16xf32>, %arg7: tensor<8x16xf32>, %arg8: tensor<8x16xf32>, %arg9: tensor<8x16xf32>, %arg10: tensor<8x16xf32>, %arg11: tensor<8x16xf32>, %arg12: tensor<8x16xf32>, %arg13: tensor<8x16xf32>, %arg14: tensor<8x16xf32>, %arg15: tensor<8x16xf32>) -> (tensor<32x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = stablehlo.multiply %arg15, %arg2 : tensor<8x16xf32>
    %1 = stablehlo.multiply %arg2, %arg13 : tensor<8x16xf32>
    %2 = stablehlo.multiply %0, %arg14 : tensor<8x16xf32>
    %3 = stablehlo.add %arg3, %2 : tensor<8x16xf32>
    %4 = stablehlo.multiply %2, %arg13 : tensor<8x16xf32>
    %5 = stablehlo.add %3, %4 : tensor<8x16xf32>
    %6 = stablehlo.multiply %1, %arg12 : tensor<8x16xf32>
    %7 = stablehlo.multiply %arg11, %5 : tensor<8x16xf32>
    %8 = stablehlo.multiply %5, %arg9 : tensor<8x16xf32>
    %9 = stablehlo.multiply %7, %arg10 : tensor<8x16xf32>
    %10 = stablehlo.multiply %9, %arg9 : tensor<8x16xf32>
    %11 = stablehlo.add %9, %10 : tensor<8x16xf32>
    %12 = stablehlo.multiply %8, %arg8 : tensor<8x16xf32>
    %13 = stablehlo.multiply %arg7, %5 : tensor<8x16xf32>
    %14 = stablehlo.multiply %5, %arg6 : tensor<8x16xf32>
    %15 = stablehlo.multiply %14, %arg5 : tensor<8x16xf32>
    %16 = stablehlo.concatenate %12, %15, %11, %6, dim = 1 : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x64xf32>
    %17 = stablehlo.dot_general %16, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
    %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %19 = stablehlo.add %arg1, %18 : tensor<32x64xf32>
    %20 = stablehlo.dot_general %16, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64xf32>, tensor<32x64xf32>) -> tensor<8x32xf32>
    %21 = stablehlo.slice %20 [0:8, 0:16] : (tensor<8x32xf32>) -> tensor<8x16xf32>
    %22 = stablehlo.slice %20 [0:8, 16:32] : (tensor<8x32xf32>) -> tensor<8x16xf32>
    return %19, %22, %13 : tensor<32x64xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }
}
