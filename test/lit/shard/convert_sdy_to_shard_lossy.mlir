// RUN: sdy-opt %s --pass-pipeline="builtin.module(convert-sdy-to-shard{lossy=true})" | FileCheck %s

// Open dimensions, priorities and explicitly replicated axes are dropped.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: @f(%arg0: tensor<6x4xf32>)
// CHECK: shard.sharding @mesh split_axes = {{\[\[}}0], []] : !shard.sharding
func.func @f(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}], replicated={"y"}>}) {
  return
}
