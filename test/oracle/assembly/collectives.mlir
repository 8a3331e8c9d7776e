sdy.mesh @m = <["x"=8, "y"=2, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_slice [{"x"}, {"y"}] %a out_sharding=<@m, [{"x"}, {"y"}]> : tensor<16x8xf32>
  %1 = sdy.all_gather [{"x":(2)4}, {}] %0 out_sharding=<@m, [{"x":(1)2}, {"y"}]> : tensor<16x8xf32>
  %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@m, [{"x":(1)2, "y"}, {}]> : tensor<16x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@m, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  %4 = sdy.all_reduce {"y"} %3 out_sharding=<@m, [{"z", "x":(2)2}, {}]> : tensor<16x8xf32>
  %5 = sdy.reduce_scatter [{}, {"y"}] %4 out_sharding=<@m, [{"z", "x":(2)2}, {"y"}]> {tag} : tensor<16x8xf32>
  %6 = sdy.sharded_to_unreduced [{}, {"y"}] %5 out_sharding=<@m, [{"z", "x":(2)2}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %7 = sdy.replicated_to_unreduced {"x":(4)2} %6 out_sharding=<@m, [{"z", "x":(2)2}, {}], unreduced={"x":(4)2, "y"}> : tensor<16x8xf32>
  return %7 : tensor<16x8xf32>
}
