module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=8]> {stablehlo.mesh = {axes = [{name = "data", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<64x16xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data"} (%arg2: tensor<8x16xf32>, %arg3: tensor<4x64xf32>) {
      %1 = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<8x16xf32>) -> tensor<64x16xf32>
      %2 = stablehlo.dot_general %arg3, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64xf32>, tensor<64x16xf32>) -> tensor<4x16xf32>
      %3 = stablehlo.tanh %2 : tensor<4x16xf32>
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
      %5 = stablehlo.subtract %4, %3 : tensor<4x16xf32>
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
      %7 = stablehlo.multiply %6, %3 : tensor<4x16xf32>
      %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
      %9 = stablehlo.multiply %8, %7 : tensor<4x16xf32>
      %10 = stablehlo.multiply %9, %5 : tensor<4x16xf32>
      %11 = stablehlo.multiply %10, %3 : tensor<4x16xf32>
      %12 = stablehlo.add %10, %11 : tensor<4x16xf32>
      %13 = stablehlo.dot_general %12, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<4x64xf32>) -> tensor<16x64xf32>
      %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
      %15 = "stablehlo.reduce_scatter"(%14) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %19 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %19 : tensor<f32>
      }) : (tensor<64x16xf32>) -> tensor<8x16xf32>
      %cst_2 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %17 = stablehlo.multiply %16, %15 : tensor<8x16xf32>
      %18 = stablehlo.subtract %arg2, %17 : tensor<8x16xf32>
      sdy.return %18 : tensor<8x16xf32>
    } : (tensor<64x16xf32>, tensor<32x64xf32>) -> tensor<64x16xf32>
    return %0 : tensor<64x16xf32>
  }
}
