// RUN: sdy-opt %s -convert-sdy-to-shard | FileCheck %s
// RUN: sdy-opt %s -convert-sdy-to-shard -convert-shard-to-sdy | FileCheck %s --check-prefix=AGAIN

// CHECK: shard.grid @mesh(shape = 2x4x3) {sdy.axis_names = ["x", "x", "y"]}
// AGAIN: sdy.mesh @mesh = <["x"=8, "y"=3]>
sdy.mesh @mesh = <["x"=8, "y"=3]>
// CHECK: shard.grid @plain(shape = 24) {sdy.axis_names = ["z"]}
sdy.mesh @plain = <["z"=24]>
// CHECK-NOT: sdy.mesh
// CHECK-NOT: sdy.sharding

// CHECK-LABEL: @main(%arg0: tensor<8x4xf32>, %arg1: tensor<7x9xf32>, %arg2: tensor<24xf32>) -> tensor<8x4xf32>
// AGAIN-LABEL: @main
// AGAIN-SAME: %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>}
// AGAIN-SAME: %arg1: tensor<7x9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}
// AGAIN-SAME: %arg2: tensor<24xf32> {sdy.sharding = #sdy.sharding<@plain, [{"z"}]>}
// AGAIN-SAME: -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>},
                %b: tensor<7x9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
                %c: tensor<24xf32> {sdy.sharding = #sdy.sharding<@plain, [{"z"}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[S:.*]] = shard.sharding @mesh split_axes = {{\[\[}}0], [1]] : !shard.sharding
  // CHECK: %[[A:.*]] = shard.shard %arg0 to %[[S]] : tensor<8x4xf32>
  // CHECK: %[[T:.*]] = shard.sharding @mesh split_axes = {{\[\[}}2], []] sharded_dims_offsets = [0, 3, 6, 7] : !shard.sharding
  // CHECK: shard.shard %arg1 to %[[T]] : tensor<7x9xf32>
  // CHECK: %[[ABS:.*]] = stablehlo.abs %[[A]] : tensor<8x4xf32>
  // CHECK: %[[U:.*]] = shard.sharding @mesh split_axes = {{\[\[}}0, 1], []] : !shard.sharding
  // CHECK: %[[ABS1:.*]] = shard.shard %[[ABS]] to %[[U]] : tensor<8x4xf32>
  // AGAIN: %[[ABS:.*]] = stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  // CHECK: %[[C:.*]] = shard.shard %[[ABS1]] to %{{.*}} annotate_for_users {sdy.origin = "sdy.sharding_constraint"}
  // AGAIN: %[[C:.*]] = sdy.sharding_constraint %[[ABS]] <@mesh, [{}, {"x":(1)2}]>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x":(1)2}]> : tensor<8x4xf32>
  // CHECK: %[[SUM:.*]] = stablehlo.add %[[ABS1]], %[[C]]
  // AGAIN: %[[SUM:.*]] = stablehlo.add %[[ABS]], %[[C]]
  %2 = stablehlo.add %0, %1 : tensor<8x4xf32>
  // A constraint that nothing uses is about what makes its operand.
  // CHECK: %[[SUM1:.*]] = shard.shard %[[SUM]] to %{{.*}} {sdy.origin = "sdy.sharding_constraint"}
  // AGAIN: sdy.sharding_constraint %[[SUM]] <@mesh, [{}, {}]>
  %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}]> : tensor<8x4xf32>
  // CHECK: %[[R:.*]] = shard.shard %[[SUM1]] to %{{.*}} annotate_for_users {sdy.origin = "sdy.reshard"}
  // AGAIN: %[[R:.*]] = sdy.reshard %[[SUM]] <@mesh, [{}, {"x":(2)4}]>
  %4 = sdy.reshard %2 <@mesh, [{}, {"x":(2)4}]> : tensor<8x4xf32>
  // CHECK: %[[RES:.*]] = shard.shard %[[R]] to %{{.*}} annotate_for_users : tensor<8x4xf32>
  // CHECK: return %[[RES]]
  // AGAIN: return %[[R]]
  return %4 : tensor<8x4xf32>
}

// CHECK-LABEL: @nothing_said
// CHECK-NEXT: stablehlo.abs %arg0 : tensor<8xf32>
func.func @nothing_said(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) {
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>} : tensor<8xf32>
  return
}
