// RUN: sdy-opt %s -sdy-convert-global-to-local=enable-rgv3=false | FileCheck %s
// RUN: sdy-opt %s "-sdy-convert-global-to-local=replica-count=4 enable-rgv3=false" \
// RUN:   | FileCheck %s --check-prefix=REPLICAS
// RUN: sdy-opt %s "-sdy-convert-global-to-local=per-dim-all-gather=true enable-rgv3=false" \
// RUN:   | FileCheck %s --check-prefix=PER-DIM
// RUN: sdy-opt %s "-sdy-convert-global-to-local=combine-multi-dimension-reduce-scatter=true enable-rgv3=false" \
// RUN:   | FileCheck %s --check-prefix=COMBINED
// RUN: sdy-opt %s -sdy-convert-global-to-local \
// RUN:   | FileCheck %s --check-prefix=BY-AXES
// RUN: sdy-opt %s -sdy-convert-global-to-local -sdy-drop-sharding-and-mesh \
// RUN:   | FileCheck %s --check-prefix=DROPPED

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @gather(%arg0: tensor<4x4xf32>
// PER-DIM-LABEL: func.func @gather
// BY-AXES-LABEL: func.func @gather
// BY-AXES: "stablehlo.all_gather"
// BY-AXES-SAME: replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y">]>
// DROPPED: replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 2>]>
// DROPPED-NOT: @mesh
func.func @gather(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> tensor<8x8xf32> {
  // CHECK-NEXT: [[ONE:%.+]] = stablehlo.reshape %arg0 : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
  // CHECK-NEXT: [[ALL:%.+]] = "stablehlo.all_gather"([[ONE]])
  // CHECK-SAME: all_gather_dim = 0 : i64
  // CHECK-SAME: replica_groups = dense<{{\[\[}}0, 1, 2, 3]]>
  // CHECK-SAME: use_global_device_ids
  // CHECK-SAME: -> tensor<4x4x4xf32>
  // CHECK-NEXT: [[SPLIT:%.+]] = stablehlo.reshape [[ALL]] : {{.*}} -> tensor<2x2x4x4xf32>
  // CHECK-NEXT: [[TURNED:%.+]] = stablehlo.transpose [[SPLIT]], dims = [0, 2, 1, 3]
  // CHECK-NEXT: stablehlo.reshape [[TURNED]] : (tensor<2x4x2x4xf32>) -> tensor<8x8xf32>
  // PER-DIM: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1
  // PER-DIM-SAME: replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
  // PER-DIM-NEXT: "stablehlo.all_gather"(%[[VALUE:[0-9]+]]) <{all_gather_dim = 0
  // PER-DIM-SAME: replica_groups = dense<{{\[\[}}0, 2], [1, 3]]>
  %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @slice
// REPLICAS-LABEL: func.func @slice
func.func @slice(%arg0: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK-NEXT: [[ID:%.+]] = stablehlo.partition_id
  // CHECK-NEXT: [[INDEX:%.+]] = stablehlo.convert [[ID]]
  // CHECK-NEXT: [[OFFSETS:%.+]] = stablehlo.constant dense<[0, 4, 0, 4]> : tensor<4xi64>
  // CHECK-NEXT: [[OFFSET:%.+]] = stablehlo.dynamic_slice [[OFFSETS]], [[INDEX]], sizes = [1]
  // CHECK-NEXT: [[SCALAR:%.+]] = stablehlo.reshape [[OFFSET]]
  // CHECK-NEXT: stablehlo.dynamic_slice %arg0, [[SCALAR]], sizes = [4]
  // REPLICAS: stablehlo.replica_id
  %0 = sdy.all_slice [{"y"}] %arg0 out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @others
// REPLICAS-LABEL: func.func @others
// REPLICAS-NOT: channel_handle<handle = {{[0-9]}}
func.func @others(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  // CHECK: "stablehlo.all_to_all"(%arg0)
  // CHECK-SAME: concat_dimension = 0
  // CHECK-SAME: replica_groups = dense<{{\[\[}}0, 2], [1, 3]]>
  // CHECK-SAME: split_count = 2 : i64, split_dimension = 1
  // CHECK-SAME: (tensor<4x8xf32>) -> tensor<8x4xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  // CHECK: "stablehlo.collective_permute"(%arg0)
  // CHECK-SAME: source_target_pairs = dense<{{\[\[}}0, 0], [1, 2], [2, 1], [3, 3]]>
  %1 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  // CHECK: "stablehlo.all_reduce"(%arg0)
  // CHECK-SAME: replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
  // CHECK: stablehlo.maximum
  %2 = sdy.all_reduce max {"y"} %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK: "stablehlo.reduce_scatter"(%arg0)
  // CHECK-SAME: scatter_dimension = 1
  // CHECK: stablehlo.add
  // CHECK: (tensor<4x8xf32>) -> tensor<4x4xf32>
  %3 = sdy.reduce_scatter [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @values_of_nothing
func.func @values_of_nothing()
    -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
        tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: stablehlo.constant dense<[0, 0, 4, 4]> : tensor<4xi64>
  // CHECK: stablehlo.constant dense<3> : tensor<4xi32>
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    dense<3> : tensor<8xi32>
  // CHECK: stablehlo.iota dim = 0 : tensor<4xi32>
  // CHECK-NEXT: stablehlo.add
  %1 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : tensor<8xi32>
  return %0, %1 : tensor<8xi32>, tensor<8xi32>
}

// CHECK-LABEL: func.func @manual
// CHECK-NEXT: stablehlo.negate %arg0 : tensor<4xf32>
// CHECK-NEXT: return
func.func @manual(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Dimensions that are not scattered stay as they are.
// CHECK-LABEL: func.func @several_dimensions
// COMBINED-LABEL: func.func @several_dimensions
func.func @several_dimensions(%arg0: tensor<8x6x4xf32>)
    -> (tensor<8x6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {"x"}]>}) {
  // CHECK: "stablehlo.all_reduce"(%arg0)
  // CHECK: stablehlo.dynamic_slice {{.*}} sizes = [4, 6, 2]
  // COMBINED-NEXT: [[SPLIT:%.+]] = stablehlo.reshape %arg0 : {{.*}} -> tensor<2x4x6x2x2xf32>
  // COMBINED-NEXT: [[TURNED:%.+]] = stablehlo.transpose [[SPLIT]], dims = [0, 3, 1, 2, 4]
  // COMBINED-NEXT: [[FRONT:%.+]] = stablehlo.reshape [[TURNED]] : {{.*}} -> tensor<4x4x6x2xf32>
  // COMBINED-NEXT: "stablehlo.reduce_scatter"([[FRONT]])
  // COMBINED-SAME: replica_groups = dense<{{\[\[}}0, 2, 1, 3]]>
  // COMBINED-SAME: scatter_dimension = 0
  // COMBINED: (tensor<4x4x6x2xf32>) -> tensor<1x4x6x2xf32>
  // COMBINED-NEXT: stablehlo.reshape {{.*}} -> tensor<4x6x2xf32>
  %0 = sdy.reduce_scatter [{"y"}, {}, {"x"}] %arg0 out_sharding=<@mesh, [{"y"}, {}, {"x"}]>
      : tensor<8x6x4xf32>
  return %0 : tensor<8x6x4xf32>
}

// CHECK-LABEL: func.func @several_moves
func.func @several_moves(
    %arg0: tensor<4x4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}, {}]>})
    -> (tensor<4x4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}, {"x"}]>}) {
  // CHECK-NEXT: stablehlo.reshape %arg0 : (tensor<2x2x8x8xf32>) -> tensor<2x2x2x4x2x4xf32>
  // CHECK-NEXT: stablehlo.transpose {{.*}} dims = [2, 4, 0, 1, 3, 5]
  // CHECK-NEXT: stablehlo.reshape {{.*}} -> tensor<4x2x2x4x4xf32>
  // CHECK-NEXT: "stablehlo.all_to_all"
  // CHECK-SAME: replica_groups = dense<{{\[\[}}0, 2, 1, 3]]>
  // CHECK-NEXT: stablehlo.reshape {{.*}} -> tensor<2x2x2x2x4x4xf32>
  // CHECK-NEXT: stablehlo.transpose {{.*}} dims = [1, 2, 0, 3, 4, 5]
  // CHECK-NEXT: stablehlo.reshape {{.*}} -> tensor<4x4x4x4xf32>
  // CHECK-NOT: all_to_all
  %0 = sdy.all_to_all [{"x"}: 0->3, {"y"}: 1->2] %arg0
      out_sharding=<@mesh, [{}, {}, {"y"}, {"x"}]> : tensor<4x4x8x8xf32>
  return %0 : tensor<4x4x8x8xf32>
}

// What counts several times otherwise is kept by one device, or at one place.
// CHECK-LABEL: func.func @unreduced
func.func @unreduced(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>},
        tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  // CHECK: [[FIRST:%.+]] = stablehlo.compare EQ
  // CHECK: [[NOTHING:%.+]] = stablehlo.constant dense<-0.000000e+00> : tensor<4xf32>
  // CHECK-NEXT: stablehlo.select [[FIRST]], %arg0, [[NOTHING]]
  %0 = sdy.replicated_to_unreduced {"y"} %arg0 out_sharding=<@mesh, [{"x"}], unreduced={"y"}>
      : tensor<8xf32>
  // CHECK: [[ALL:%.+]] = stablehlo.constant dense<-0.000000e+00> : tensor<8xf32>
  // CHECK-NEXT: stablehlo.dynamic_update_slice [[ALL]], %arg0, {{.*}} -> tensor<8xf32>
  %1 = sdy.sharded_to_unreduced [{"x"}] %arg0 out_sharding=<@mesh, [{}], unreduced={"x"}>
      : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @nothing_to_do
// CHECK-NEXT: return %arg0
func.func @nothing_to_do(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.all_gather [{}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// StableHLO has no collectives along dimensions of size 0.
// CHECK-LABEL: func.func @no_elements
func.func @no_elements(%arg0: tensor<4x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<4x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // CHECK-NEXT: %[[NONE:.+]] = stablehlo.constant dense<> : tensor<4x0xf32>
  // CHECK-NEXT: return %[[NONE]]
  %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<4x0xf32>
  return %0 : tensor<4x0xf32>
}
