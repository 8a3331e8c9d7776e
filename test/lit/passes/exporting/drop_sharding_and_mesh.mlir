// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh | FileCheck %s

// CHECK-NOT: sdy
// CHECK: func.func @main(%arg0: tensor<8xf32> {a.kept}) -> tensor<8xf32> {
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0 {a.kept} : tensor<8xf32>
// CHECK-NEXT: return %[[NEGATE]]
sdy.mesh @mesh = <["x"=2]>

func.func @main(
    %arg0: tensor<8xf32> {a.kept, sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.negate %arg0
    {a.kept, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
