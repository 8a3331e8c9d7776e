// Operations that can't be read, or break a rule.

// RUN: sdy-opt %s --split-input-file --verify-diagnostics

// --- Syntax ---

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expected an SSA value}}
  %0 = sdy.reshard <@m, [{}]> %a : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{'#' after an operand denotes a result number}}
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
  // expected-error@below {{expected one of 'NONE', 'FORWARD', 'BACKWARD', 'BOTH', found 'SIDEWAYS'}}
  %0 = sdy.propagation_barrier %a allowed_direction=SIDEWAYS : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{custom op 'sdy.nothing' is unknown}}
  %0 = sdy.nothing %a : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{2 operands are listed, but 1 types}}
  sdy.manual_computation(%a, %a) in_shardings=[] out_shardings=[] manual_axes={} () { sdy.return } : (tensor<8xf32>) -> ()
}

// -----

func.func @f() {
  // expected-error@below {{the region is empty: its body must end with 'sdy.return'}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {} : () -> ()
}

// -----

func.func @f() {
  // expected-error@below {{the region is not closed}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () { sdy.return : () -> ()

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expected a constant such as 'dense<0.0> : tensor<2xf32>'}}
  %0 = sdy.constant : tensor<8xf32>
}

// -----

// expected-error@below {{expected a name '@name'}}
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
  // expected-error@below {{expects a direction other than BOTH: the op would have no effect then}}
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
  // expected-error@below {{block argument 0 is tensor<4xf32>, but the operand is tensor<8xf32>}}
  %0 = sdy.named_computation<"n">(%a) (%b: tensor<4xf32>) { sdy.return %b : tensor<4xf32> } : (tensor<8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{the body returns (tensor<8xf32>), but the results are (tensor<4xf32>)}}
  %0 = sdy.named_computation<"n">(%a) (%b: tensor<8xf32>) { sdy.return %b : tensor<8xf32> } : (tensor<8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{expects a body that ends with 'sdy.return'}}
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
// expected-error@below {{'func.func' op arg 1 - duplicate axis: "x" in dimension 1 is used in dimension 0 already}}
func.func @f(%a: tensor<8xf32>, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"x"}]>}) {
  func.return
}

// -----

sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{'stablehlo.negate' op result - sharding doesn't match tensor rank: 2 dimension shardings for tensor<8xf32>, which has rank 1}}
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
  // expected-error@below {{operand: the local type inside must be tensor<2xf32> for the global type tensor<8xf32>, got tensor<4xf32>}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) { sdy.return %b : tensor<4xf32> } : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{operand sharding at dimension 0 must have all manual axes come before free axes: manual axis "x" comes after free axis "y"}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"y", "x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) { sdy.return %b : tensor<2xf32> } : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

sdy.mesh @m = <["x"=4, "y"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-note@below {{"x" is a manual axis here}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    // expected-error@below {{axis "x" is already bound by an enclosing manual computation}}
    %1 = sdy.reshard %b <@m, [{"x":(1)2}]> : tensor<2xf32>
    sdy.return %b : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

// --- Sharding rules ---

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{number of operands and mappings must match: 1 operands vs 2 mappings}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{operand - mapping rank must match: 2 dimensions are mapped, tensor<8xf32> has rank 1}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=1}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<?xf32>) {
  // expected-error@below {{operand - expected a tensor of static shape, got tensor<?xf32>}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<?xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{result - dim 0 is mapped to factor j, which has no size}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=8}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{has factor j=3 that isn't used in any mapping}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8, j=3}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{reduction factor i is in the mapping of a result}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} reduction={i}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{factor i can't be both a need_replication and a permutation factor}}
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} need_replication={i} permutation={i}>} : tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@below {{has propagation edges, but none of their values has a sharding}}
  %0 = stablehlo.negate %a {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>} : tensor<8xf32>
  func.return
}

// -----

sdy.mesh @m = <["x"=2]>

func.func @full_form_behind_an_operand(%a: tensor<8xf32>) {
  // expected-error@below {{'#' after an operand denotes a result number: write the attribute in its short form}}
  %0 = sdy.reshard %a #sdy.sharding<@m, [{}]> {a} : tensor<8xf32>
  return
}

// -----

sdy.mesh @m = <["x"=2]>

func.func @nested_manual_axis(%a: tensor<8xf32>) {
  // expected-note@below {{"x" is a manual axis here}}
  sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<4xf32>) {
    // expected-error@below {{cannot use the axis "x" as manual axis: it is already bound}}
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
      sdy.return
    } : () -> ()
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @group_number_of_32_bits(%a: tensor<8xf32>) {
  // expected-error@below {{expects a 'group_id' of type i64, got 1 : i32}}
  "sdy.sharding_group"(%a) <{group_id = 1 : i32}> : (tensor<8xf32>) -> ()
  func.return
}

// -----

func.func @edge_of_a_value_with_other_uses(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
  // expected-error@below {{expects to be the only use of its input, which has 2 uses}}
  %1 = sdy.data_flow_edge %0 : tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// -----

func.func @function_edge_of_an_ordinary_value(%a: tensor<8xf32>) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  // expected-error@below {{expects an input that is an argument of a 'func.func' or a result of a 'func.call'}}
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
