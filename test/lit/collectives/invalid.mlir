// Collectives whose result is not what their operand and their axes lead to.

// RUN: sdy-opt %s --split-input-file --verify-diagnostics

// --- Operand and result ---

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32>) {
  // expected-error@below {{op collective on operand without sharding}}
  %0 = sdy.all_gather [{"u"}] %arg0 out_sharding=<@k, [{}]> : tensor<32xf32>
  return
}

// -----

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op unknown mesh: @unknown}}
  %0 = sdy.all_gather [{"u"}] %arg0 out_sharding=<@unknown, [{}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op unknown axis name: "a"}}
  %0 = sdy.all_gather [{"u"}] %arg0 out_sharding=<@k, [{"a"}]> : tensor<32xf32>
  return
}

// -----

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
sdy.mesh @turned = <["u"=2], device_ids=[1, 0]>
// expected-note@below {{operand mesh: #sdy.mesh<["u"=8, "v"=2, "w"=2]>}}
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op result mesh does not match operand mesh: the result is on <["u"=2], device_ids=[1, 0]>}}
  %0 = sdy.all_gather [{"u"}] %arg0 out_sharding=<@turned, [{}]> : tensor<32xf32>
  return
}

// -----

// --- Axes for each dimension ---

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"v", "u"}]>}) {
  // expected-error@below {{op can't apply gathering axis "v" to operand sharding on dimension 0: "v" cannot be gathered: it is not a suffix of {"v", "u"}, the axes left}}
  %0 = sdy.all_gather [{"v"}] %arg0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"v", "u"}]>}) {
  // expected-error@below {{op result sharding doesn't match expected sharding ["v", "u":(1)2] on dimension 0: got ["v"] in <@k, [{"v"}]>}}
  %0 = sdy.all_gather [{"u":(2)4}] %arg0 out_sharding=<@k, [{"v"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op result sharding has rank 1 but collective axes has rank 2}}
  %0 = sdy.all_gather [{"u"}, {}] %arg0 out_sharding=<@k, [{}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op unknown axis name: "a"; the mesh has the axes "u", "v", "w"}}
  %0 = sdy.all_gather [{"a"}] %arg0 out_sharding=<@k, [{}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u":(1)2}]>}) {
  // expected-error@below {{op result sharding doesn't match expected sharding ["u"] on dimension 0: got ["v"] in <@k, [{"v"}]>}}
  %0 = sdy.all_slice [{"u":(2)4}] %arg0 out_sharding=<@k, [{"v"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}], unreduced={"v"}>}) {
  // expected-error@below {{op duplicate axis ref: "v" in the axes for dimension 0 is used in the axes for dimension 0 already}}
  %0 = sdy.reduce_scatter [{"v", "v"}] %arg0 out_sharding=<@k, [{"u", "v"}]> : tensor<32xf32>
  return
}

// -----

// --- Moves between dimensions ---

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op parameter list is empty: state a move, as in '{"x"}: 0->1'}}
  %0 = sdy.all_to_all [] %arg0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op target dimension 1 is out of range [0, 1)}}
  %0 = sdy.all_to_all [{"u"}: 0->1] %arg0 out_sharding=<@k, [{}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op overlapping source/target dimensions in all-to-all params: 0, a target}}
  %0 = sdy.all_to_all [{"u"}: 0->0] %arg0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// --- Permutation ---

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u":(1)4}]>}) {
  // expected-error@below {{op sharded size of result doesn't match operand on dimension 0: 2 != 4, of {"v"} and {"u":(1)4}}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@k, [{"v"}]> : tensor<32xf32>
  return
}

// -----

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
sdy.mesh @same = <["u"=8, "v"=2, "w"=2]>
// expected-note@below {{operand mesh: #sdy.mesh<["u"=8, "v"=2, "w"=2]>}}
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op result mesh name is different but same device ids as operand: <["u"=8, "v"=2, "w"=2]>}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@same, [{"u"}]> : tensor<32xf32>
  return
}

// -----

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
sdy.mesh @turned = <["u"=2], device_ids=[1, 0]>
// expected-note@below {{operand mesh: #sdy.mesh<["u"=8, "v"=2, "w"=2]>}}
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op result mesh has different axes than operand mesh: <["u"=2], device_ids=[1, 0]>}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@turned, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// --- Reductions ---

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op operand and result shardings are not equivalent, unreduced axes aside: <@k, [{"u"}]> vs <@k, [{"w"}]>}}
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@k, [{"w"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}]>}) {
  // expected-error@below {{op reduction axes are not ordered w.r.t. mesh: "v" belongs before "w"}}
  %0 = sdy.all_reduce {"w", "v"} %arg0 out_sharding=<@k, [{}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op reduction axis "u":(2)2 overlaps with operand dimension sharding or replicated axes: "u"}}
  %0 = sdy.all_reduce {"u":(2)2} %arg0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}], replicated={"v"}>}) {
  // expected-error@below {{op reduction axis "v" overlaps with operand dimension sharding or replicated axes: "v"}}
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}], unreduced={"v"}>}) {
  // expected-error@below {{op reduction axis "v" overlaps with result unreduced axes: "v"}}
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@k, [{}], unreduced={"v"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}]>}) {
  // expected-error@below {{op cannot add new unreduced axis 'w'. The new axes are {"w"}}}
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@k, [{}], unreduced={"w"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}], unreduced={"v"}>}) {
  // expected-error@below {{op cannot reduce 'sum' unreduced axes. Expected 'max'. The axes are {"v"}}}
  %0 = sdy.all_reduce max {"v"} %arg0 out_sharding=<@k, [{}]> : tensor<32xf32>
  return
}

// -----

// --- Towards unreduced axes ---

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}], unreduced={"v"}>}) {
  // expected-error@below {{op cannot change reduction_op of existing unreduced axes: 'sum' became 'min'}}
  %0 = sdy.sharded_to_unreduced [{"u"}] %arg0 out_sharding=<@k, [{}], unreduced=min{"u", "v"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}], unreduced={"v"}>}) {
  // expected-error@below {{op out_unreduced_axes should be in_unreduced_axes + sharded_to_unreduced_axes: {"u", "v"}, got {"u"} in <@k, [{}], unreduced={"u"}>}}
  %0 = sdy.sharded_to_unreduced [{"u"}] %arg0 out_sharding=<@k, [{}], unreduced={"u"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{?}]>}) {
  // expected-error@below {{op input and output must share the same dimension shardings: <@k, [{?}]> vs <@k, [{}], unreduced={"u"}>}}
  %0 = sdy.replicated_to_unreduced {"u"} %arg0 out_sharding=<@k, [{}], unreduced={"u"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}]>}) {
  // expected-error@below {{op r2u axes must not be empty}}
  %0 = sdy.replicated_to_unreduced {} %arg0 out_sharding=<@k, [{}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}], unreduced={"u":(1)2}>}) {
  // expected-error@below {{op r2u axis "u" overlaps with operand unreduced axes: "u":(1)2}}
  %0 = sdy.replicated_to_unreduced {"u"} %arg0 out_sharding=<@k, [{}], unreduced={"u"}> : tensor<32xf32>
  return
}

// -----

// --- Reshards ---

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}], unreduced={"u", "v"}>}) {
  // expected-error@below {{op cannot change the reduction operator of kept unreduced axes from sum to max.}}
  %0 = sdy.sharding_constraint %arg0 <@k, [{}], unreduced=max{"u"}> : tensor<32xf32>
  return
}
