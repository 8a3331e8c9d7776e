// RUN: sdy-opt %s -sdy-sharding-constraint-to-reshard | FileCheck %s --check-prefix=RESHARD
// RUN: sdy-opt %s -sdy-close-shardings | FileCheck %s --check-prefix=CLOSE

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CLOSE-LABEL: func.func @main
// CLOSE-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}]>}
// CLOSE-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>})
func.func @main(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}p2], replicated={"y"}>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}], unreduced={"y"}>}) {
  // RESHARD: %0 = sdy.reshard %arg0 <@mesh, [{"x", ?}, {}]> {a.note = 1 : i32} : tensor<8x8xf32>
  // RESHARD-NEXT: return %0
  // CLOSE: sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {}]> {a.note = 1 : i32} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
