// Sharding groups.
// PASSES: sdy-sharding-group-import
// PASSES: sdy-basic-propagate

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @element_types(%arg0: tensor<16x32xf32>, %arg1: tensor<16x32xi8>) -> tensor<16x32xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<16x32xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<16x32xi8>
  return %arg0 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @different(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) -> tensor<16x32xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<16x32xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<16x32xf32>
  return %arg0 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @one_sharded(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<16x32xf32>) -> tensor<16x32xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<16x32xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<16x32xf32>
  %0 = stablehlo.add %arg1, %arg1 : tensor<16x32xf32>
  sdy.sharding_group %0 group_id=0 : tensor<16x32xf32>
  return %arg0 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @open_closed(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}]>}) -> tensor<16x32xf32> {
  sdy.sharding_group %arg0 group_id=7 : tensor<16x32xf32>
  sdy.sharding_group %arg1 group_id=7 : tensor<16x32xf32>
  return %arg0 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @constraint(%arg0: tensor<16x32xf32>, %arg1: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"a"}, {}]> : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %arg1 <@mesh, [{}, {"b"}]> : tensor<16x32xf32>
  sdy.sharding_group %0 group_id=0 : tensor<16x32xf32>
  sdy.sharding_group %1 group_id=0 : tensor<16x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @scalar(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<f32>
  sdy.sharding_group %arg1 group_id=0 : tensor<f32>
  return %arg0 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
sdy.mesh @maximal = <[], device_ids=[1]>
func.func @maximal_s(%arg0: tensor<16x32xf32>, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) -> tensor<16x32xf32> {
  %0 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : tensor<16x32xf32>
  sdy.sharding_group %0 group_id=0 : tensor<16x32xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<16x32xf32>
  return %arg0 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @manual_ok(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%b: tensor<8x32xf32>) {
    sdy.sharding_group %b group_id=0 : tensor<8x32xf32>
    %1 = stablehlo.add %b, %b : tensor<8x32xf32>
    sdy.sharding_group %1 group_id=0 : tensor<8x32xf32>
    sdy.return %1 : tensor<8x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @while(%arg0: tensor<16x32xf32>, %n: tensor<i32>) -> tensor<16x32xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<16x32xf32>
  %w:2 = stablehlo.while(%i = %n, %x = %arg0) : tensor<i32>, tensor<16x32xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %v = stablehlo.add %x, %x : tensor<16x32xf32>
      sdy.sharding_group %v group_id=0 : tensor<16x32xf32>
      stablehlo.return %i, %v : tensor<i32>, tensor<16x32xf32>
    }
  return %w#1 : tensor<16x32xf32>
}
