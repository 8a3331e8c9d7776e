// Every attribute, alone and where operations hold it.

// RUN: sdy-opt %s | sdy-opt | FileCheck %s
// RUN: sdy-opt %s --mlir-print-op-generic | sdy-opt | FileCheck %s

// An alias of the user's own, and what looks like one of the tool's.
#split = #sdy.sharding<@mesh, [{"x"}, {}]>
#sdy_0 = #sdy.sharding_per_value<[<@mesh, [{}]>]>

// CHECK: sdy.mesh @mesh = <["x"=8, "y"=2]>
sdy.mesh @mesh = <["x"=8, "y"=2]>

// CHECK-LABEL: func.func private @alone
func.func private @alone() attributes {
  // An attribute whose text starts with `<` follows its name; the others stand in the brackets.
  // CHECK-DAG: mesh = #sdy.mesh<["a"=2, "b"=3], device_ids=[5, 4, 3, 2, 1, 0]>
  mesh = #sdy.mesh<["a"=2, "b"=3], device_ids=[5, 4, 3, 2, 1, 0]>,
  // CHECK-DAG: iota = #sdy.mesh<["a"=2, "b"=2]>
  iota = #sdy.mesh<["a"=2, "b"=2], device_ids=[0, 1, 2, 3]>,
  // CHECK-DAG: maximal = #sdy.mesh<[], device_ids=[7]>
  maximal = #sdy.mesh<[], device_ids=[7]>,
  // CHECK-DAG: empty = #sdy.mesh<[]>
  empty = #sdy.mesh<[]>,
  // CHECK-DAG: mesh_axis = #sdy<mesh_axis"u"=24>
  mesh_axis = #sdy<mesh_axis"u"=24>,
  // CHECK-DAG: sub_axis_info = #sdy<sub_axis_info(2)3>
  sub_axis_info = #sdy<sub_axis_info(2)3>,
  // CHECK-DAG: axis_ref = #sdy<axis_ref"u":(2)3>
  axis_ref = #sdy<axis_ref"u":(2)3>,
  // CHECK-DAG: full_axis = #sdy<axis_ref"an \22axis\22">
  full_axis = #sdy<axis_ref "an \"axis\"">,
  // CHECK-DAG: axis_ref_list = #sdy<axis_ref_list{"u", "v":(1)2}>
  axis_ref_list = #sdy<axis_ref_list{"u", "v":(1)2}>,
  // CHECK-DAG: no_axes = #sdy<axis_ref_list{}>
  no_axes = #sdy<axis_ref_list{}>,
  // CHECK-DAG: list_of_axis_ref_lists = #sdy<list_of_axis_ref_lists[{"u"}, {}]>
  list_of_axis_ref_lists = #sdy<list_of_axis_ref_lists[{"u"}, {}]>,
  // CHECK-DAG: manual_axes = #sdy<manual_axes{"v", "u"}>
  manual_axes = #sdy<manual_axes{"v", "u"}>,
  // CHECK-DAG: dim_open = #sdy<dimension_sharding{"u", ?}p3>
  dim_open = #sdy<dimension_sharding{"u", ?}p3>,
  // CHECK-DAG: dim_priority_0 = #sdy<dimension_sharding{?}p0>
  dim_priority_0 = #sdy<dimension_sharding{?} p0>,
  // CHECK-DAG: dim_closed = #sdy<dimension_sharding{}>
  dim_closed = #sdy<dimension_sharding{}>,
  // CHECK-DAG: sharding = #sdy.sharding<@mesh, [{"u":(1)4, ?}p1, {}, {?}], replicated={"v"}, unreduced={"w"}>
  sharding = #sdy.sharding<@mesh, [{"u":(1)4, ?}p1, {}, {?}], unreduced={"w"}, replicated={"v"}>,
  // CHECK-DAG: scalar = #sdy.sharding<@mesh, []>
  scalar = #sdy.sharding<@mesh, []>,
  // CHECK-DAG: quoted = #sdy.sharding<@"a mesh", []>
  quoted = #sdy.sharding<@"a mesh", []>,
  // CHECK-DAG: unquoted = #sdy.sharding<@a.mesh$1, []>
  unquoted = #sdy.sharding<@"a.mesh$1", []>,
  // CHECK-DAG: maximum = #sdy.sharding<@mesh, [{}], unreduced=max{"u"}>
  maximum = #sdy.sharding<@mesh, [{}], unreduced=max{"u"}>,
  // CHECK-DAG: minimum = #sdy.sharding<@mesh, [{}], unreduced=min{"u", "v"}>
  minimum = #sdy.sharding<@mesh, [{}], unreduced = min {"u", "v"}>,
  // CHECK-DAG: summed = #sdy.sharding<@mesh, [{}], unreduced={"u"}>
  summed = #sdy.sharding<@mesh, [{}], unreduced=sum{"u"}>,
  // CHECK-DAG: inlined = #sdy.sharding<mesh<["a"=4]>, [{"a"}]>
  inlined = #sdy.sharding<mesh<["a"=4]>, [{"a"}]>,
  // CHECK-DAG: sharding_per_value = #sdy.sharding_per_value<[<@mesh, [{"u"}]>, <mesh<["w"=2]>, [{?}]>]>
  sharding_per_value = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"u"}]>, <mesh<["w"=2]>, [{?}]>]>,
  // CHECK-DAG: no_values = #sdy.sharding_per_value<[]>
  no_values = #sdy.sharding_per_value<[]>,
  // CHECK-DAG: dim_mapping = #sdy<dim_mappingiz_1z>
  dim_mapping = #sdy<dim_mapping iz_1z>,
  // CHECK-DAG: tensor_mapping = #sdy<tensor_mapping[i, jk]>
  tensor_mapping = #sdy<tensor_mapping[i, jk]>,
  // CHECK-DAG: rule = #sdy.op_sharding_rule<([i, j], [j, kl])->([i, kl]) {i=2, j=3, k=5, l=7} reduction={j} permutation={k, l} blocked_propagation={i}, custom>
  rule = #sdy.op_sharding_rule<([i, j], [j, kl])->([i, kl]) {i=2, j=3, k=5, l=7} reduction={j} permutation={k,l} blocked_propagation={i}, custom>,
  // CHECK-DAG: rule_replicating = #sdy.op_sharding_rule<([i])->([i]) {i=2} need_replication={i}>
  rule_replicating = #sdy.op_sharding_rule<([i])->([i]) {i=2} need_replication={i}>,
  // CHECK-DAG: rule_of_scalars = #sdy.op_sharding_rule<([], [])->([])>
  rule_of_scalars = #sdy.op_sharding_rule<([], []) -> ([])>,
  // CHECK-DAG: all_to_all_param = #sdy<all_to_all_param{"u", "v"}: 0->2>
  all_to_all_param = #sdy<all_to_all_param{"u", "v"}:0->2>,
  // CHECK-DAG: all_to_all_param_list = #sdy<all_to_all_param_list[{"u"}: 0->2, {"w"}: 1->3]>
  all_to_all_param_list = #sdy<all_to_all_param_list[{"u"}: 0->2, {"w"}: 1->3]>,
  // CHECK-DAG: axis_to_propagation_details = #sdy<axis_to_propagation_details{"u" = operand-1 -> [operand-0, result-0]}>
  axis_to_propagation_details = #sdy<axis_to_propagation_details{"u" = operand-1 -> [operand-0, result-0]}>,
  // CHECK-DAG: edge_value_ref = #sdy<edge_value_refoperand-3>
  edge_value_ref = #sdy<edge_value_ref operand - 3>,
  // CHECK-DAG: propagation_one_step = #sdy<propagation_one_step{step--3 = [{"u" = operand-1 -> [result-0]}]}>
  propagation_one_step = #sdy<propagation_one_step{step--3 = [{"u" = operand-1 -> [result-0]}]}>,
  // CHECK-DAG: propagation_edges = #sdy.propagation_edges<[{step-2 = [{"u":(1)2 = operand-1 -> [operand-0, result-0]}, {"v" = result-0 -> [operand-0]}]}, {step-5 = [{"w" = operand-0 -> [result-0]}]}]>
  propagation_edges = #sdy.propagation_edges<[{step-2 = [{"u":(1)2 = operand-1 -> [operand-0, result-0]}, {"v" = result-0 -> [operand-0]}]}, {step-5 = [{"w" = operand-0 -> [result-0]}]}]>,
  // White space and comments may stand between any two tokens.
  // CHECK-DAG: spaced = #sdy.sharding<@mesh, [{"u":(2)3, ?}p1], replicated={"v"}>
  spaced = #sdy.sharding< @mesh , [ { "u" : ( 2 ) 3 , ? } p1 ] // a comment }]>
    , replicated
    = { "v" } >,
  // CHECK-DAG: nested = [#sdy.sharding<@mesh, []>, {key = #sdy<axis_ref"u">}]
  nested = [#sdy.sharding<@mesh, []>, {key = #sdy<axis_ref"u">}],
  // CHECK-DAG: text = "#sdy.sharding<@mesh, [{]>"
  text = "#sdy.sharding<@mesh, [{]>"
}

// CHECK-LABEL: func.func @values
// CHECK-SAME: %arg0: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
// CHECK-SAME: %arg1: !stablehlo.token {jax.note = "first", sdy.sharding = #sdy.sharding<@mesh, []>}
// CHECK-SAME: -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>})
func.func @values(%a: tensor<8x2xf32> {sdy.sharding = #split}, // the alias
                  %t: !stablehlo.token {jax.note = "first", sdy.sharding = #sdy.sharding<@mesh, []>})
    -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) {
  // CHECK: stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x2xf32>
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"x"}, {}]>]>} : tensor<8x2xf32>
  // CHECK: stablehlo.add %[[VALUE:[0-9]+]], %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=2}>} : tensor<8x2xf32>
  %1 = stablehlo.add %0, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=2}>} : tensor<8x2xf32>
  // CHECK: stablehlo.constant {other = #sdy.sharding_per_value<[<@mesh, [{}]>]>} dense<1> : tensor<2xi32>
  %2 = stablehlo.constant {other = #sdy_0} dense<1> : tensor<2xi32>
  // CHECK: stablehlo.custom_call @f(%[[VALUE_1:[0-9]+]]) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<8x2xf32>) -> ()
  stablehlo.custom_call @f(%1) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<8x2xf32>) -> ()
  return %1 : tensor<8x2xf32>
}
