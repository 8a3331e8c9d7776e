module @jit_attend attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["ring"=8]> {stablehlo.mesh = {axes = [{name = "ring", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<2x64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"ring"}, {}]>}, %arg1: tensor<2x64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"ring"}, {}]>}, %arg2: tensor<2x64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"ring"}, {}]>}) -> (tensor<2x64x16xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {"ring"}, {}]>, <@mesh, [{}, {"ring"}, {}]>, <@mesh, [{}, {"ring"}, {}]>] out_shardings=[<@mesh, [{}, {"ring"}, {}]>] manual_axes={"ring"} (%arg3: tensor<2x8x16xf32>, %arg4: tensor<2x8x16xf32>, %arg5: tensor<2x8x16xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x16xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8x1xf32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %3:6 = stablehlo.while(%iterArg = %arg3, %iterArg_1 = %c, %iterArg_2 = %arg4, %iterArg_3 = %arg5, %iterArg_4 = %1, %iterArg_5 = %2) : tensor<2x8x16xf32>, tensor<i32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x1xf32>
      cond {
        %c_6 = stablehlo.constant dense<8> : tensor<i32>
        %6 = stablehlo.compare LT, %iterArg_1, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %6 : tensor<i1>
      } do {
        %6:4 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_3, %iterArg_4, %iterArg_5) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x1xf32>) -> (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x1xf32>)
        %c_6 = stablehlo.constant dense<1> : tensor<i32>
        %7 = stablehlo.add %iterArg_1, %c_6 : tensor<i32>
        stablehlo.return %iterArg, %7, %6#0, %6#1, %6#2, %6#3 : tensor<2x8x16xf32>, tensor<i32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x1xf32>
      }
      %4 = stablehlo.broadcast_in_dim %3#5, dims = [0, 1, 2] : (tensor<2x8x1xf32>) -> tensor<2x8x16xf32>
      %5 = stablehlo.divide %3#4, %4 : tensor<2x8x16xf32>
      sdy.return %5 : tensor<2x8x16xf32>
    } : (tensor<2x64x16xf32>, tensor<2x64x16xf32>, tensor<2x64x16xf32>) -> tensor<2x64x16xf32>
    return %0 : tensor<2x64x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<2x8x16xf32>, %arg1: tensor<2x8x16xf32>, %arg2: tensor<2x8x16xf32>, %arg3: tensor<2x8x16xf32>, %arg4: tensor<2x8x1xf32>) -> (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x1xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x8xf32>
    %1 = stablehlo.exponential %0 : tensor<2x8x8xf32>
    %2 = stablehlo.dot_general %1, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x8xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %3 = stablehlo.add %arg3, %2 : tensor<2x8x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %6 = stablehlo.add %arg4, %5 : tensor<2x8x1xf32>
    %7 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %8 = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    return %7, %8, %3, %6 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x1xf32>
  }
}
