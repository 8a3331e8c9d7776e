func.func private @f() attributes {
  a = #sdy<axis_ref"u":(2)3>, b = #sdy<axis_ref_list{"u", "v":(1)2}>, c = #sdy<manual_axes{}>,
  d = #sdy<list_of_axis_ref_lists[{"u"}, {}]>, e = #sdy<dimension_sharding{"u", ?}p3>,
  f = #sdy<sub_axis_info(2)3>, g = #sdy<mesh_axis"u"=24>, h = #sdy<tensor_mapping[i, jz_1]>,
  i = #sdy<all_to_all_param{"u", "v"}: 0->2>, j = #sdy<all_to_all_param_list[{"u"}: 0->1]>,
  k = #sdy.mesh<[]>, l = #sdy.sharding_per_value<[]>, m = #sdy<dimension_sharding{?}p0>,
  n = #sdy.op_sharding_rule<([i, jk], [])->([i, jk]) {i=2, j=3, k=5} need_replication={i} permutation={j} blocked_propagation={i, k}>,
  o = #sdy.propagation_edges<[{step-2 = [{"u":(1)2 = operand-1 -> [operand-0, result-0]}]}]>,
  p = #sdy<propagation_one_step{step-0 = [{"u" = operand-0 -> [result-0]}]}>
}
