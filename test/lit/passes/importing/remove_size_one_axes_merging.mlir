// RUN: sdy-opt %s -sdy-remove-size-one-axes | FileCheck %s

// Sub-axes that an axis of size 1 separates. C++ Shardy doesn't merge them, which its verifier rejects.
// CHECK:      func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b", "c"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b":(1)4, ?}]>}) {
// CHECK-NEXT: return
// CHECK-NEXT: }
sdy.mesh @m = <["a"=1, "b"=8, "c"=2]>
func.func @main(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b":(1)2, "a", "b":(2)4, "c"}]>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b":(1)2, "a", "b":(2)2, ?}]>}) {
  return
}
