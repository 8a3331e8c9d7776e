// Concatenations along a dimension that is not sharded.
// PASSES: sdy-convert-global-to-local

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @one(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.concatenate %a, %b, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @replicated(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @replicated_explicit(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, %b: tensor<8x8xf32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %0 = stablehlo.concatenate %a, %b, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @other_dims(%a: tensor<8x8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}, {"x"}]>}, %b: tensor<8x3x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}, {"x"}]>}, %c: tensor<8x1x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}, {"x"}]>}) -> (tensor<8x12x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}, {"x"}]>}) {
  %0 = stablehlo.concatenate %a, %b, %c, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}, {}, {"x"}]>]>} : (tensor<8x8x4xf32>, tensor<8x3x4xf32>, tensor<8x1x4xf32>) -> tensor<8x12x4xf32>
  return %0 : tensor<8x12x4xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @one_operand_ok(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.concatenate %a, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @sub_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "y"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "y"}, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "y"}, {}]>}) {
  %0 = stablehlo.concatenate %a, %b, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x", "y"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
