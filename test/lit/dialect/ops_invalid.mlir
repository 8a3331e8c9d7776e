// Operations that can't be read, or break a rule.

// RUN: sdy-opt %s --split-input-file --verify-diagnostics

// --- Syntax ---

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expected SSA operand, found '<'}}
  %0 = sdy.reshard <@m, [{}]> %a : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{invalid SSA value result number: '#' after an operand denotes one; write the attribute in its short form, without '#sdy' and its name}}
  %0 = sdy.reshard %a #sdy.sharding<@m, [{}]> : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+2 {{expected ':', found 'func.return'}}
  %0 = sdy.reshard %a <@m, [{}]>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expected 'out_sharding'}}
  %0 = sdy.all_gather [{}] %a <@m, [{}]> : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{'{' or the short form of the attribute before a type}}
  %0 = sdy.all_gather [{}] %a out_sharding=#sdy.sharding<@m, [{}]> : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expected string or keyword containing one of the following enum values for attribute 'allowed_direction' [NONE, FORWARD, BACKWARD, BOTH], found 'SIDEWAYS'}}
  %0 = sdy.propagation_barrier %a allowed_direction=SIDEWAYS : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{custom op 'sdy.nothing' is unknown}}
  %0 = sdy.nothing %a : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{number of operands and types do not match: got 2 operands and 1 types}}
  sdy.manual_computation(%a, %a) in_shardings=[] out_shardings=[] manual_axes={} () { sdy.return } : (tensor<8xf32>) -> ()
}

// -----

func.func @f() {
  // expected-error@below {{expects a non-empty block: its body must end with 'sdy.return'}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {} : () -> ()
}

// -----

func.func @f() {
  // expected-error@below {{the region is not closed}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () { sdy.return : () -> ()

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expected attribute value: a constant such as 'dense<0.0> : tensor<2xf32>', found ':'}}
  %0 = sdy.constant : tensor<8xf32>
}

// -----

// expected-error@below {{expected valid '@'-identifier for symbol name: '@name', found '"'}}
sdy.mesh "m" = <["x"=2]>

// -----

// --- Single operations ---

func.func @f() {
  // expected-error@below {{'sdy.mesh' op expects parent op 'builtin.module'}}
  sdy.mesh @m = <["x"=2]>
  func.return
}

// -----

// expected-note@below {{see existing symbol definition here}}
sdy.mesh @m = <["x"=2]>
// expected-error@below {{redefinition of symbol named 'm'}}
sdy.mesh @m = <["x"=2]>

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{sharding}}
  %0 = "sdy.reshard"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{cannot specify `BOTH` as the direction. Not blocking propagation direction makes the op redundant.}}
  %0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{tensor<4xf32>}}
  %0 = "sdy.propagation_barrier"(%a) {allowed_direction = 0 : i32} : (tensor<8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expected the type of the 0'th block argument to match the type of the corresponding operand: 'tensor<4xf32>' vs 'tensor<8xf32>'}}
  %0 = sdy.named_computation<"n">(%a) (%b: tensor<4xf32>) { sdy.return %b : tensor<4xf32> } : (tensor<8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{inferred type(s) 'tensor<8xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  %0 = sdy.named_computation<"n">(%a) (%b: tensor<8xf32>) { sdy.return %b : tensor<8xf32> } : (tensor<8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expects regions to end with 'sdy.return', found 'func.return'}}
  %0 = sdy.named_computation<"n">(%a) (%b: tensor<8xf32>) { func.return } : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

// --- Shardings ---

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{'sdy.reshard' op unknown mesh: @m; declare it with 'sdy.mesh'}}
  %0 = sdy.reshard %a <@m, [{}]> : tensor<8xf32>
  func.return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{'sdy.sharding_constraint' op unknown axis name: "z"; the mesh has the axes "x", "y"}}
  %0 = sdy.sharding_constraint %a <@m, [{"z"}]> : tensor<8xf32>
  func.return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @m = <["x"=4, "y"=2]>
// expected-error@below {{'func.func' op arg 1 - duplicate axis ref: "x" in dimension 1 is used in dimension 0 already}}
func.func @f(%a: tensor<8xf32>, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"x"}]>}) {
  func.return
}

// -----

sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{'stablehlo.negate' op result - sharding doesn't match tensor rank: 2 != 1, the rank of tensor<8xf32>}}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : tensor<8xf32>
  func.return
}

// -----

// expected-note@below {{the mesh is}}
sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{two consecutive sub-axes can be merged: "x":(1)2, "x":(2)2; write "x"}}
  %0 = sdy.reshard %a <@m, [{"x":(1)2, "x":(2)2}]> : tensor<8xf32>
  func.return
}

// -----

// Operations against meshes come last: the later operation is reported.
// expected-note@below {{the mesh is}}
sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  %0 = sdy.reshard %a <@m, [{"w"}]> : tensor<8xf32>
  // expected-error@below {{unknown axis name: "v"}}
  %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"v"}]>]>} : tensor<8xf32>
  func.return
}

// -----

// --- Manual computations ---

sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{operand shape, corresponding sharding, and region operand shape at index 0 must match. Expected local shape 'tensor<2xf32>', actual local shape 'tensor<4xf32>'}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) { sdy.return %b : tensor<4xf32> } : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{operand sharding at index 0 must have all manual axes come before free axes in its dimension sharding at index 0. Saw manual axis "x" after free axis "y"}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"y", "x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) { sdy.return %b : tensor<2xf32> } : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-note@below {{parent bounding this axis as manual}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    // expected-error@below {{operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
    %1 = sdy.reshard %b <@m, [{"x":(1)2}]> : tensor<2xf32>
    sdy.return %b : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

// --- Sharding rules ---

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{number of operands and mappings must match: 1 != 2}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{operand - mapping rank must match: 2 != 1, the rank of tensor<8xf32>}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=1}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<?xf32>) {
  // expected-error@below {{operand - expected a ranked tensor with a static shape. type: 'tensor<?xf32>'}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<?xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{result - expecting factor indices to be within 0<=...<num_factors; received: 1, num_factors: 1; factor j has no size}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=8}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{has factor j=3 that isn't used in operand and result mappings}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8, j=3}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{reduction factor cannot be in result mappings: i, which is reduced away}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} reduction={i}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{a factor can only be in one of the reduction, need replication, or permutation factor sets: i is in need_replication and permutation}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} need_replication={i} permutation={i}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expected propagation edges attr to reference a sharding. None of the values has one}}
  %0 = stablehlo.negate %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>} : tensor<8xf32>
  func.return
}

// -----

sdy.mesh @m = <["x"=2]>

func.func @full_form_behind_an_operand(%a: tensor<8xf32>) {
  // expected-error@below {{invalid SSA value result number: '#' after an operand denotes one; write the attribute in its short form, without '#sdy' and its name}}
  %0 = sdy.reshard %a #sdy.sharding<@m, [{}]> {a} : tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>

func.func @nested_manual_axis(%a: tensor<8xf32>) {
  // expected-note@below {{parent bounding this axis as manual}}
  sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<4xf32>) {
    // expected-error@below {{operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
      sdy.return
    } : () -> ()
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @group_number_of_32_bits(%a: tensor<8xf32>) {
  // expected-error@below {{attribute 'group_id' failed to satisfy constraint: 64-bit signless integer attribute, got 1 : i32}}
  "sdy.sharding_group"(%a) <{group_id = 1 : i32}> : (tensor<8xf32>) -> ()
  func.return
}

// -----

func.func @edge_of_a_value_with_other_uses(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
  // expected-error@below {{expected input of sdy.data_flow_edge to have a single user, found 2 uses}}
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// -----

func.func @function_edge_of_an_ordinary_value(%a: tensor<8xf32>) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  // expected-error@below {{expected operand of sdy.func_data_flow_edge to be a result of call op.}}
  %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
  func.return
}

// -----

sdy.mesh @m = <["x"=2]>

func.func @manual_axis_in_a_called_function(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{calls @inner, which is sharded by the manual axis "x": inside of the computation, a value is the part of one device along this axis}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    %1 = func.call @outer(%b) : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @outer(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@below {{sharded by "x" here}}
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
