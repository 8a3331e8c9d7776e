// Channels in the order of the text, across functions and regions.
// PASSES: sdy-convert-global-to-local

sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @w(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %n: tensor<i32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %p = sdy.collective_permute %a out_sharding=<@m, [{"y"}, {"x"}]> : tensor<8x8xf32>
  %q = sdy.collective_permute %p out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %r = "stablehlo.case"(%n) ({
    %0 = sdy.all_reduce {"z"} %q out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
    stablehlo.return %0 : tensor<8x8xf32>
  }, {
    %0 = sdy.all_to_all [{"x"}: 0->1] %q out_sharding=<@m, [{}, {"y", "x"}]> : tensor<8x8xf32>
    %1 = sdy.all_to_all [{"x"}: 1->0] %0 out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
    stablehlo.return %1 : tensor<8x8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : (tensor<i32>) -> tensor<8x8xf32>
  %z = sdy.all_reduce {"z"} %r out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}
func.func @g(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %z = sdy.reduce_scatter [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %y = sdy.all_gather [{"x"}, {"y"}] %z out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func private @first(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %0 = sdy.all_reduce {"z"} %a out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %n: tensor<i32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %u = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%b: tensor<4x4xf32>) {
    %0 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0,2,4,6],[1,3,5,7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %9 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = sdy.all_reduce {"z"} %0 out_sharding=<@m, [{}, {}]> : tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = sdy.all_gather [{"x"}, {}] %u out_sharding=<@m, [{}, {"y"}]> : tensor<8x8xf32>
  %s = sdy.reduce_scatter [{"x"}, {}] %g out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %v = sdy.named_computation<"foo">(%s) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] (%b: tensor<8x8xf32>) {
    %1 = sdy.all_reduce {"z"} %b out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = stablehlo.constant dense<3> : tensor<i32>
  %w:2 = stablehlo.while(%i = %n, %x = %v) : tensor<i32>, tensor<8x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@m, []>, <@m, [{"x"}, {"y"}]>]>}
    cond {
      %g1 = sdy.all_gather [{"x"}, {"y"}] %x out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
      %1 = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %g1 = sdy.all_to_all [{"x"}: 0->1] %x out_sharding=<@m, [{}, {"y", "x"}]> : tensor<8x8xf32>
      %g2 = sdy.all_to_all [{"x"}: 1->0] %g1 out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
      stablehlo.return %i, %g2 : tensor<i32>, tensor<8x8xf32>
    }
  %k = func.call @last(%w#1) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = sdy.collective_permute %k out_sharding=<@m, [{"y"}, {"x"}]> : tensor<8x8xf32>
  %q = sdy.collective_permute %p out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %q : tensor<8x8xf32>
}
func.func private @last(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %0 = sdy.all_reduce {"z"} %a out_sharding=<@m, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
