// RUN: sdy-opt %s --pass-pipeline="builtin.module(convert-sdy-to-shard{lossy=true})" | FileCheck %s

// Open dimensions, priorities and explicitly replicated axes are dropped.

sdy.mesh @mesh = <["x"=2, "y"=2]>


// CHECK-LABEL: @f(%arg0: tensor<6x4xf32>)
// CHECK: %[[S:.*]] = shard.sharding @mesh split_axes = {{\[\[}}0], []] : !shard.sharding
// CHECK: %[[A:.*]] = shard.shard %arg0 to %[[S]]
func.func @f(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}], replicated={"y"}>}) {
  sdy.sharding_group %a group_id=0 : tensor<6x4xf32>
  // CHECK: stablehlo.abs %[[A]]
  %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<6x4xf32>
  %1 = stablehlo.abs %0 : tensor<6x4xf32>
  // CHECK: %[[C:.*]] = stablehlo.constant dense<1> : tensor<2xi32>
  // CHECK: shard.shard %[[C]] to
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<1> : tensor<2xi32>
  return
}
