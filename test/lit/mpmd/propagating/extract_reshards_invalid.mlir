// RUN: sdy-opt %s '-mpmd-extract-reshards-from-inter-mesh-transfers=transfers=auto' --verify-diagnostics
// RUN: sdy-opt %s '-mpmd-extract-reshards-from-inter-mesh-transfers=transfers=direct' --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m3" : <["x"=8]>>>
sdy.mesh @mesh = <["x"=2]>
func.func @f(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> !m3 attributes {topology = #topology} {
  // expected-error@+1 {{partial sums, sharded by <@mesh, [{}, {}], unreduced={"x"}>, can't go to a mesh of another shape, m3: reduce them on m1}}
  %0 = mpmd.transfer %a : (!m1) -> !m3
  return %0 : !m3
}
