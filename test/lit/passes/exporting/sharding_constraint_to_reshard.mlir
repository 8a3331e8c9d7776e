// RUN: sdy-opt %s -sdy-sharding-constraint-to-reshard | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Open dimensions and other attributes stay; constraints in bodies and of tokens are treated, too.
// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8x8xf32>, %arg1: !stablehlo.token) -> (tensor<8x8xf32>, !stablehlo.token) {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{"x", ?}, {}]> {a.note = 1 : i32} : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {}]> {a.note = 1 : i32} : tensor<8x8xf32>
  // CHECK: sdy.manual_computation(%[[RESHARD]])
  // CHECK-NEXT: %[[RESHARD_1:.*]] = sdy.reshard %arg2 <@mesh, [{"y"}, {}]>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>]
      manual_axes={"x"} (%arg2: tensor<4x8xf32>) {
    %3 = sdy.sharding_constraint %arg2 <@mesh, [{"y"}, {}]> : tensor<4x8xf32>
    sdy.return %3 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: %[[RESHARD_2:.*]] = sdy.reshard %arg1 <@mesh, []> : !stablehlo.token
  // CHECK-NEXT: return %[[VALUE:[0-9]+]], %[[RESHARD_2]]
  %2 = sdy.sharding_constraint %arg1 <@mesh, []> : !stablehlo.token
  return %1, %2 : tensor<8x8xf32>, !stablehlo.token
}
