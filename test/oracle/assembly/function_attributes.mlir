sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(
    %a: tensor<8x8xf32> {jax.arg = "a", sdy.sharding = #sdy.sharding<@m, [{"x", ?}p1, {?}]>},
    %b: tensor<8xf32>,
    %t: !stablehlo.token {sdy.sharding = #sdy.sharding<@m, []>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(1)2}, {"y"}]>}, tensor<8xf32>) {
  return %a, %b : tensor<8x8xf32>, tensor<8xf32>
}
