// Permutes, also where each device keeps its shard.
// PASSES: sdy-convert-global-to-local

sdy.mesh @m = <["x"=2, "y"=4]>
func.func @swap(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x","y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y","x"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y","x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @swapdims(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {"x"}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @replace(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @replace2(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x","z"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y","x"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y","x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
func.func @sub(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y":(1)2}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y":(2)2}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y":(2)2}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
func.func @sub2(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y":(1)2}, {"x"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y":(2)2}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"x"}, {"y":(2)2}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
func.func @sub3(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y":(2)2, "x"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y":(2)2, "x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
sdy.mesh @n = <["x"=2, "y"=2], device_ids=[3,2,1,0]>
func.func @order(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"x"}, {"y"}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@n, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=4], device_ids=[0,1,2,3]>
sdy.mesh @n = <["x"=4], device_ids=[1,2,3,0]>
func.func @order1(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"x"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@n, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=4]>
sdy.mesh @n = <["x"=4], device_ids=[1,2,3,0]>
func.func @order2(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
sdy.mesh @n = <["x"=2, "y"=2], device_ids=[0,2,1,3]>
func.func @order_and_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"y"}, {"x"}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@n, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
func.func @same_axes_open(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x","y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x","y"}, {?}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"x","y"}, {?}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=4]>
func.func @replicated(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}], replicated={"y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y":(1)2}, {}], replicated={"x"}>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y":(1)2}, {}], replicated={"x"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @unreduced(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}], unreduced={"z"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}], unreduced={"z"}>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y"}, {}], unreduced={"z"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @replicated_diff(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}], replicated={"z"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
sdy.mesh @n = <["x"=2, "y"=2, "z"=2], device_ids=[7,6,5,4,3,2,1,0]>
func.func @nosharding(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@n, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @three(%a: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}, {"z"}]>}) -> (tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {"z"}, {"x"}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"y"}, {"z"}, {"x"}]> : tensor<8x8x8xf32>
  return %0 : tensor<8x8x8xf32>
}

// -----

sdy.mesh @m = <["a"=2, "b"=4, "c"=3]>
func.func @bigger(%a: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@m, [{"a","c"}, {}]>}) -> (tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@m, [{"c","a"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@m, [{"c","a"}, {}]> : tensor<24x24xf32>
  return %0 : tensor<24x24xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @manual(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"z"}]>}) {
  %u = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"z"}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = sdy.collective_permute %b out_sharding=<@m, [{}, {"z"}]> : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %u : tensor<8x8xf32>
}
