// Collectives whose result is not what their operand and their axes lead to.

// RUN: sdy-opt %s --split-input-file --verify-diagnostics

// --- Operand and result ---

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32>) {
  // expected-error@below {{op expects an operand that has a sharding}}
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
// expected-note@below {{the operand is on <["u"=8, "v"=2, "w"=2]>}}
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
  // expected-error@below {{op dimension 0: "v" cannot be gathered: it is not a suffix of {"v", "u"}, the axes left}}
  %0 = sdy.all_gather [{"v"}] %arg0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"v", "u"}]>}) {
  // expected-error@below {{op result sharding doesn't match expected sharding [{"v", "u":(1)2}]: dimension 0 should have {"v", "u":(1)2}, got {"v"} in <@k, [{"v"}]>}}
  %0 = sdy.all_gather [{"u":(2)4}] %arg0 out_sharding=<@k, [{"v"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op expects a list of axes for each of 1 dimensions, got 2}}
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
  // expected-error@below {{op result sharding doesn't match expected sharding [{"u"}]: dimension 0 should have {"u"}, got {"v"}}}
  %0 = sdy.all_slice [{"u":(2)4}] %arg0 out_sharding=<@k, [{"v"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}], unreduced={"v"}>}) {
  // expected-error@below {{op duplicate axis: "v"}}
  %0 = sdy.reduce_scatter [{"v", "v"}] %arg0 out_sharding=<@k, [{"u", "v"}]> : tensor<32xf32>
  return
}

// -----

// --- Moves between dimensions ---

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op expects at least one move of axes}}
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
  // expected-error@below {{op overlapping moves: dimension 0, a target, is used before}}
  %0 = sdy.all_to_all [{"u"}: 0->0] %arg0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// --- Permutation ---

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u":(1)4}]>}) {
  // expected-error@below {{op sharded size of dimension 0 must stay 4, as of {"u":(1)4}, got 2, as of {"v"}}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@k, [{"v"}]> : tensor<32xf32>
  return
}

// -----

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
// expected-note@below {{the mesh is}}
sdy.mesh @same = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op result mesh must have other device ids than the operand mesh, or be the same}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@same, [{"u"}]> : tensor<32xf32>
  return
}

// -----

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
// expected-note@below {{the mesh is}}
sdy.mesh @turned = <["u"=2], device_ids=[1, 0]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op result mesh must have the axes of the operand mesh}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@turned, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// --- Reductions ---

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}]>}) {
  // expected-error@below {{op operand and result must be sharded alike, unreduced axes aside: expected <@k, [{"u"}]>, got <@k, [{"w"}]>}}
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
  // expected-error@below {{op reduction axis "u":(2)2 overlaps the operand's sharding axis "u"}}
  %0 = sdy.all_reduce {"u":(2)2} %arg0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}], replicated={"v"}>}) {
  // expected-error@below {{op reduction axis "v" overlaps the operand's replicated axis "v"}}
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}], unreduced={"v"}>}) {
  // expected-error@below {{op reduction axis "v" overlaps the result's unreduced axis "v"}}
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@k, [{}], unreduced={"v"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}]>}) {
  // expected-error@below {{op cannot introduce unreduced axes, here {"w"}}}
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@k, [{}], unreduced={"w"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}], unreduced={"v"}>}) {
  // expected-error@below {{op can only remove unreduced axes of kind 'max', but {"v"} are in unreduced={"v"}}}
  %0 = sdy.all_reduce max {"v"} %arg0 out_sharding=<@k, [{}]> : tensor<32xf32>
  return
}

// -----

// --- Towards unreduced axes ---

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}], unreduced={"v"}>}) {
  // expected-error@below {{op axes that stay unreduced must keep their kind: 'sum' became 'min'}}
  %0 = sdy.sharded_to_unreduced [{"u"}] %arg0 out_sharding=<@k, [{}], unreduced=min{"u", "v"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{"u"}], unreduced={"v"}>}) {
  // expected-error@below {{op result sharding doesn't match expected unreduced axes {"u", "v"}, got {"u"} in}}
  %0 = sdy.sharded_to_unreduced [{"u"}] %arg0 out_sharding=<@k, [{}], unreduced={"u"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{?}]>}) {
  // expected-error@below {{op operand and result must have the same sharding of dimensions: expected <@k, [{?}], unreduced={"u"}>, got <@k, [{}], unreduced={"u"}>}}
  %0 = sdy.replicated_to_unreduced {"u"} %arg0 out_sharding=<@k, [{}], unreduced={"u"}> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}]>}) {
  // expected-error@below {{op expects at least one axis}}
  %0 = sdy.replicated_to_unreduced {} %arg0 out_sharding=<@k, [{}]> : tensor<32xf32>
  return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}], unreduced={"u":(1)2}>}) {
  // expected-error@below {{op axis "u" overlaps the operand's unreduced axis "u":(1)2}}
  %0 = sdy.replicated_to_unreduced {"u"} %arg0 out_sharding=<@k, [{}], unreduced={"u"}> : tensor<32xf32>
  return
}

// -----

// --- Reshards ---

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
func.func @f(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}], unreduced={"u", "v"}>}) {
  // expected-error@below {{op axes that stay unreduced must keep their kind: unreduced={"u", "v"} became unreduced=max{"u"}}}
  %0 = sdy.sharding_constraint %arg0 <@k, [{}], unreduced=max{"u"}> : tensor<32xf32>
  return
}
