// RUN: sdy-opt %s --split-input-file --verify-diagnostics -convert-sdy-to-shard

// expected-error @+1 {{cannot convert sdy to shard: mesh '@mesh' orders its devices (<["x"=2], device_ids=[1, 0]>), which grids don't support}}
sdy.mesh @mesh = <["x"=2], device_ids=[1, 0]>

// -----

// expected-error @+1 {{mesh '@mesh' has no axes, but a grid requires at least one}}
sdy.mesh @mesh = <[], device_ids=[0]>

// -----

// expected-error @+1 {{sub-axes split "x" at 2 and at 3, but a grid requires that one divides the other}}
sdy.mesh @mesh = <["x"=6]>
func.func @f(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>},
             %b: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}]>}) {
  return
}

// -----

// expected-error @+1 {{<mesh<["x"=2]>, [{"x"}]> has an inlined mesh: run 'sdy-lift-inlined-meshes' first}}
func.func @f(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{<@mesh, [{"x", ?}]> has open dimensions; 'lossy' drops them}}
func.func @f(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{has priorities; 'lossy' drops them}}
func.func @f(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{has explicitly replicated axes; 'lossy' drops them}}
func.func @f(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"x"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{has unreduced axes, which annotations cannot express}}
func.func @f(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
// expected-error @+1 {{<@mesh, [{"x", "y"}]> does not divide tensor<6xf32> evenly, and is along several axes of the grid 2x2 in one dimension: pad the tensor}}
func.func @f(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @f(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{'sdy.all_gather' has no equivalent}}
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @f(%a: tensor<6xf32>) {
  // expected-error @+1 {{'sdy.sharding_group' has no equivalent; 'lossy' drops it}}
  sdy.sharding_group %a group_id=0 : tensor<6xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{the declaration '@f' has no body to annotate}}
func.func private @f(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
