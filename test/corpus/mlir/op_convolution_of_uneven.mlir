module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=4, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 4 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x13x8x3xf32>, %arg1: tensor<3x3x3x4xf32>) -> (tensor<2x11x6x4xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {"a"}, {}, {}]> : tensor<2x13x8x3xf32>
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{}, {}, {}, {}]> : tensor<3x3x3x4xf32>
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x13x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x11x6x4xf32>
    return %2 : tensor<2x11x6x4xf32>
  }
}
