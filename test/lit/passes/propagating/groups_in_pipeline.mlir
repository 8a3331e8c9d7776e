// RUN: sdy-opt %s --verify-analyses -sdy-propagation-pipeline | FileCheck %s

// Propagation constrains members of a group that have different shardings; the constraints become
// reshards, although the input has none.

sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
// CHECK-DAG: sdy.reshard %arg0 <@mesh, [{"b"}]>
// CHECK-DAG: sdy.reshard %arg1 <@mesh, [{"b"}]>
// CHECK-NOT: sdy.sharding_constraint
func.func @main(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) -> tensor<8xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<8xf32>
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
