sdy.mesh @m = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}], replicated={"y"}>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=8}, custom>} : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@m, [{"x", ?}, {?}]> : tensor<8x8xf32>
  %2 = sdy.reshard %1 <mesh<["a"=8]>, [{"a":(2)4}, {}]> {tag = "t"} : tensor<8x8xf32>
  sdy.sharding_group %2 group_id=3 : tensor<8x8xf32>
  %3 = sdy.propagation_barrier %2 allowed_direction=BACKWARD : tensor<8x8xf32>
  %n = stablehlo.negate %3 : tensor<8x8xf32>
  %4 = sdy.data_flow_edge %n sharding=<@m, [{}, {"x"}], unreduced={"y"}> : tensor<8x8xf32>
  %5 = sdy.constant dense<0.000000e+00> : tensor<8x8xf32>
  %6 = sdy.constant {tag} dense<[[1, 2]]> : tensor<1x2xi64>
  return %4 : tensor<8x8xf32>
}
