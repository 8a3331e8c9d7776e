// RUN: sdy-opt %s -sdy-import-pipeline | FileCheck %s --check-prefixes=CHECK,LATER
// RUN: sdy-opt %s -sdy-import-pipeline=dedup-functions-fully=true | FileCheck %s --check-prefixes=CHECK,NOW
// RUN: rm -rf %t && mkdir -p %t && sdy-opt %s -sdy-import-pipeline=dump-directory=%t | FileCheck %s --check-prefixes=CHECK,LATER
// RUN: FileCheck %s --check-prefix=DUMP < %t/00.before_propagation.mlir

// A whole program: meshes, functions that nobody calls, constants, manual axes, edges. Constraints and
// groups are left for later, unless functions are kept.

// CHECK:      sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main
// CHECK-NEXT:   %[[CONSTANT:.*]] = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT:   %[[CONSTANT_1:.*]] = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT:   %[[ADD:.*]] = stablehlo.add %arg0, %[[CONSTANT]]
// LATER-SAME:     : tensor<8xf32>
// NOW-SAME:       {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:   %[[CONSTRAINT:.*]] = sdy.sharding_constraint %[[ADD]] <@mesh, [{"x"}]>
// LATER-NEXT:   sdy.sharding_group %[[VALUE:[0-9]+]] group_id=7 : tensor<8xf32>
// NOW-NEXT:     sdy.sharding_group %[[VALUE:[0-9]+]] group_id=0 : tensor<8xf32>
// CHECK-NEXT:   %[[MANUAL:.*]] = sdy.manual_computation(%[[CONSTRAINT]])
// CHECK-SAME:       in_shardings=[<@mesh, [{"x"}], replicated={"y"}>]
// CHECK-SAME:       out_shardings=[<@mesh, [{"x"}], replicated={"y"}>] manual_axes={"x", "y"}
// CHECK:          sdy.data_flow_edge %arg1
// CHECK:        sdy.data_flow_edge %[[MANUAL]] sharding=<@mesh, [{"x"}], replicated={"y"}>
// CHECK-NOT:  @unused
// DUMP:       sdy.constant
// DUMP-NOT:   sdy.data_flow_edge
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0 = stablehlo.add %a, %c : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <mesh<["x"=2, "y"=2]>, [{"x"}]> : tensor<8xf32>
  sdy.sharding_group %1 group_id=7 : tensor<8xf32>
  %2 = sdy.manual_computation(%1) in_shardings=[<mesh<["x"=2, "y"=2]>, [{"x"}]>]
      out_shardings=[<mesh<["x"=2, "y"=2]>, [{"x"}]>] manual_axes={"y", "x"} (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2, %c : tensor<8xf32>, tensor<8xf32>
}
func.func private @unused(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
