// RUN: sdy-opt %s -mpmd-generate-sdy-meshes-from-topology | FileCheck %s

#topology = #mpmd.topology<<"m1" : <["m1_x"=2]>>, <"m2" : <["m2_x"=2, "m2_y"=2]>>>

// CHECK:      sdy.mesh @empty_mesh = <[]>
// CHECK-NEXT: sdy.mesh @m1 = <["m1_x"=2]>
// CHECK-NEXT: sdy.mesh @m2 = <["m2_x"=2, "m2_y"=2]>
// CHECK-NEXT: sdy.mesh @one = <[], device_ids=[0]>
sdy.mesh @mesh = <["m1_x"=2, "m2_x"=2, "m2_y"=2]>
sdy.mesh @one = <[], device_ids=[0]>

// CHECK-LABEL: func.func @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m1, [{"m1_x"}, {}]>}, %arg1: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m2, [{"m2_y"}, {"m2_x"}]>})
// CHECK-NEXT: %[[V0:.*]] = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@m2, [{?}, {"m2_x", ?}]>]>}
// CHECK-NEXT: return %[[V0]]
func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m1_x"}, {}]>}, %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m2_y"}, {"m2_x"}]>}) attributes {topology = #topology} {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"m2_x", ?}]>]>} : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
