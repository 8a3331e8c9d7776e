// RUN: sdy-opt %s -sdy-user-priority-propagate | FileCheck %s
// RUN: sdy-opt %s -sdy-op-priority-propagate | FileCheck %s --check-prefix=IGNORED
// RUN: rm -rf %t && mkdir -p %t && sdy-opt %s -sdy-user-priority-propagate='module-dump-directory=%t module-dump-index=7'
// RUN: FileCheck %s --check-prefix=FIRST --input-file=%t/07.propagation_after_user_priority_0.mlir
// RUN: FileCheck %s --check-prefix=SECOND --input-file=%t/08.propagation_after_user_priority_1.mlir

sdy.mesh @mesh = <["a"=2, "b"=2]>

// The lower number comes first, and leaves the other one nothing but its own dimension.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a"}]>}
// FIRST: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}], replicated={"a"}>}
// FIRST-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}], replicated={"a"}>}
// SECOND: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}], replicated={"a"}>}
// SECOND-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a"}]>}
func.func @main(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p2, {?}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a"}p1]>}) -> tensor<8x8xf32> {
  // CHECK: stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"a", ?}]>]>}
  // IGNORED: stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>}
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
