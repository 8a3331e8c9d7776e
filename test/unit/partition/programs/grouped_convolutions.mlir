module {
  sdy.mesh @m = <["x"=3, "y"=2]>
  func.func @main(%arg0: tensor<3x9x5xf32>, %arg1: tensor<9x3x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) -> tensor<3x9x4xf32> {
    %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {"y", "x"}]>]>} : tensor<3x9x5xf32>
    %1 = stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{?}, {"x"}, {"y", ?}]>]>} : tensor<3x9x5xf32>
    %2 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}, {?}, {"x", ?}]>]>} : tensor<9x3x2xf32>
    %3 = stablehlo.abs %arg1 : tensor<9x3x2xf32>
    %4 = stablehlo.add %2, %3 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"y"}, {}]>]>} : tensor<9x3x2xf32>
    %5 = stablehlo.convolution(%0, %2) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[-1, 0]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<3x9x5xf32>, tensor<9x3x2xf32>) -> tensor<3x9x4xf32>
    %6 = stablehlo.convolution(%1, %4) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[-1, 0]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<3x9x5xf32>, tensor<9x3x2xf32>) -> tensor<3x9x4xf32>
    %7 = stablehlo.add %5, %6 : tensor<3x9x4xf32>
    return %7 : tensor<3x9x4xf32>
  }
}
