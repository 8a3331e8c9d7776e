// RUN: sdy-opt %s '-mpmd-extract-reshards-from-inter-mesh-transfers=transfers=auto hardware=%S/Inputs/slow_between_meshes.toml' | FileCheck %s
// RUN: sdy-opt %s '-mpmd-extract-reshards-from-inter-mesh-transfers=transfers=auto' | FileCheck %s --check-prefix=EQUAL
// RUN: sdy-opt %s '-mpmd-extract-reshards-from-inter-mesh-transfers=transfers=direct' | FileCheck %s --check-prefix=EQUAL

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2, "y"=2]>>, <"m2" : <["x"=2, "y"=2]>>, <"m3" : <["x"=8]>>>

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @m3 = <["x"=8]>

// Devices that need equal shards get a part each, and the fragment gathers it.
// CHECK-LABEL: func.func @gathered
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer {mpmd.way = "gathered", mpmd.ways = {{[{].*[}]}}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} %arg0
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m2", origin=["f"], in_shardings=[<@mesh, [{"x", "y"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%[[V0]])
// CHECK-NEXT: %[[V2:.*]] = sdy.reshard %arg1 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: stablehlo.tanh %[[V2]]
// EQUAL-LABEL: func.func @gathered
// EQUAL-NEXT: mpmd.transfer {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %arg0
// EQUAL-NOT: sdy.reshard
func.func @gathered(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (!m2, !m2) attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %a : (!m1) -> !m2
  %1 = mpmd.fragment<mesh="m2", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%0) (%x: tensor<4x8xf32>) {
    %2 = stablehlo.tanh %x : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m2) -> !m2
  return %1, %1 : !m2, !m2
}

// The axis divides the second dimension only.
// CHECK-LABEL: func.func @on_another_mesh
// CHECK-NEXT: mpmd.transfer {mpmd.way = "gathered", mpmd.ways = {{[{].*[}]}}, sdy.sharding = #sdy.sharding_per_value<[<@m3, [{}, {"x"}]>]>} %arg0
// CHECK-NEXT: mpmd.fragment<mesh="m3", origin=["f"], in_shardings=[<@m3, [{}, {"x"}]>], out_shardings=[<@m3, [{}, {}]>]>
// CHECK-NEXT: sdy.reshard %arg1 <@m3, [{}, {}]>
func.func @on_another_mesh(%a: !m1) -> !m3 attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@m3, [{}, {}]>]>} %a : (!m1) -> !m3
  %1 = mpmd.fragment<mesh="m3", origin=["f"], in_shardings=[<@m3, [{}, {}]>], out_shardings=[<@m3, [{}, {}]>]> (%0) (%x: tensor<4x8xf32>) {
    %2 = stablehlo.tanh %x : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m3) -> !m3
  return %1 : !m3
}

// A result of the program keeps its sharding; a fragment gathers the shards that are sent.
// CHECK-LABEL: func.func @consumers
// CHECK-NEXT: %[[V0:.*]] = mpmd.transfer {mpmd.way = "consumers", mpmd.ways = {{[{].*[}]}}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} %arg0
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m2", origin=[], out_shardings=[<@mesh, [{}, {}]>]> (%[[V0]])
// CHECK: return %[[V1]]
// EQUAL-LABEL: func.func @consumers
// EQUAL-NEXT: mpmd.transfer {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} %arg0
// EQUAL-NEXT: return
func.func @consumers(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} %a : (!m1) -> !m2
  return %0 : !m2
}

// The parts that are needed are sent from where they are.
// CHECK-LABEL: func.func @direct
// CHECK-NEXT: mpmd.transfer {mpmd.ways = {{[{].*[}]}}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x", "y"}]>]>} %arg0
// CHECK-NEXT: return
func.func @direct(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x", "y"}]>]>} %a : (!m1) -> !m2
  return %0 : !m2
}
