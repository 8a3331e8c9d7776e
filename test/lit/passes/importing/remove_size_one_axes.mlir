// RUN: sdy-opt %s -split-input-file -sdy-remove-size-one-axes | FileCheck %s

// Axes of size 1.
// CHECK:      sdy.mesh @m = <["a"=1, "b"=2, "c"=1, "d"=1]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"b", ?}p1, {?}p3]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{}], replicated={"b"}>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b"}]>}, %arg3: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=1]>, [{?}]>}) {
// CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%arg1) in_shardings=[<@m, [{}]>] out_shardings=[<@m, [{}]>] manual_axes={"a"} (%arg4: tensor<8xf32>) {
// CHECK-NEXT: sdy.return %arg4 : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return
// CHECK-NEXT: }
sdy.mesh @m = <["a"=1, "b"=2, "c"=1, "d"=1]>
func.func @main(
    %a: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}p2, {"b", "c", ?}p1, {"d", ?}p3]>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}], replicated={"b", "d"}>},
    %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b"}], unreduced={"a", "d"}>},
    %d: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=1]>, [{"z", ?}]>}) {
  %0 = sdy.manual_computation(%b) in_shardings=[<@m, [{"a"}]>] out_shardings=[<@m, [{"a"}]>]
      manual_axes={"a"} (%x: tensor<8xf32>) {
    sdy.return %x : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// Axes of size 1 on inlined meshes only.
// CHECK:      func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=1]>, [{"z"}]>}) {
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=1]>, [{"z"}]>}) {
  return
}
