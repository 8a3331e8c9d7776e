// Collectives that do nothing, undo the one before, or can be merged with it.

// RUN: sdy-opt %s -canonicalize | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline='builtin.module(canonicalize{enable-patterns=sdy-collective})' | FileCheck %s

sdy.mesh @m = <["u"=4, "v"=2, "w"=2]>

// CHECK-LABEL: func.func @without_axes
func.func @without_axes(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: return %arg0
  %0 = sdy.all_gather [{}, {}] %arg0 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {}] %0 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_reduce {} %1 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  %3 = sdy.reduce_scatter [{}, {}] %2 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  %4 = sdy.collective_permute %3 out_sharding=<@m, [{"u", ?}, {}]> : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @slice_of_gather
func.func @slice_of_gather(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}]>}) -> tensor<8x8xf32> {
  // The gather may have effects, so it stays.
  // CHECK-NEXT: sdy.all_gather
  // CHECK-NEXT: return %arg0
  %0 = sdy.all_gather [{"u"}, {}] %arg0 out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"u"}, {}] %0 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @slice_of_gather_of_other_axes
func.func @slice_of_gather_of_other_axes(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.all_gather [{"u"}, {}] %arg0
  // CHECK-NEXT: sdy.all_slice [{}, {"u"}] %[[VALUE:[0-9]+]]
  %0 = sdy.all_gather [{"u"}, {}] %arg0 out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"u"}] %0 out_sharding=<@m, [{}, {"u"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @reduce_of_replicated
func.func @reduce_of_replicated(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.replicated_to_unreduced
  // CHECK-NEXT: return %arg0
  %0 = sdy.replicated_to_unreduced {"v"} %arg0 out_sharding=<@m, [{"u"}, {}], unreduced={"v"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"v"} %0 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @reduce_of_sharded
func.func @reduce_of_sharded(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u":(2)2}, {"u":(1)2}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.sharded_to_unreduced
  // CHECK-NEXT: %[[GATHER:.*]] = sdy.all_gather [{"u":(2)2}, {"u":(1)2}] %arg0 out_sharding=<@m, [{}, {?}]>
  // CHECK-NEXT: return %[[GATHER]]
  %0 = sdy.sharded_to_unreduced [{"u":(2)2}, {"u":(1)2}] %arg0 out_sharding=<@m, [{}, {}], unreduced={"u"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"u"} %0 out_sharding=<@m, [{}, {?}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @all_to_all_unused
func.func @all_to_all_unused(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}]>}) {
  // CHECK-NEXT: return
  %0 = sdy.all_to_all [{"u"}: 0->1] %arg0 out_sharding=<@m, [{}, {"u"}]> : tensor<8x8xf32>
  return
}

// CHECK-LABEL: func.func @all_to_alls
func.func @all_to_alls(%arg0: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}, {"v"}, {}]>}) -> tensor<8x8x8x8xf32> {
  // CHECK-NEXT: %[[ALL:.*]] = sdy.all_to_all [{"u"}: 0->1, {"v"}: 2->3] %arg0 out_sharding=<@m, [{}, {"u"}, {}, {"v"}]>
  // CHECK-NEXT: return %[[ALL]]
  %0 = sdy.all_to_all [{"v"}: 2->3] %arg0 out_sharding=<@m, [{"u"}, {}, {}, {"v"}]> : tensor<8x8x8x8xf32>
  %1 = sdy.all_to_all [{"u"}: 0->1] %0 out_sharding=<@m, [{}, {"u"}, {}, {"v"}]> : tensor<8x8x8x8xf32>
  return %1 : tensor<8x8x8x8xf32>
}

// CHECK-LABEL: func.func @all_to_alls_through_a_dimension
func.func @all_to_alls_through_a_dimension(%arg0: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}, {}]>}) -> tensor<8x8x8xf32> {
  // CHECK-COUNT-2: sdy.all_to_all
  %0 = sdy.all_to_all [{"u"}: 0->1] %arg0 out_sharding=<@m, [{}, {"u"}, {}]> : tensor<8x8x8xf32>
  %1 = sdy.all_to_all [{"u"}: 1->2] %0 out_sharding=<@m, [{}, {}, {"u"}]> : tensor<8x8x8xf32>
  return %1 : tensor<8x8x8xf32>
}
