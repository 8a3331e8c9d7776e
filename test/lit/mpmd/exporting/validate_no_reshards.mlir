// RUN: sdy-opt %s -mpmd-validate-no-reshards=fail-on-reshard-only-fragments --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !m1 attributes {topology = #topology} {
  // expected-error-re@+1 {{Detected reshard-only fragment 'f'. This usually indicates an unexpected reshard. Operands: #sdy.sharding<@mesh, [{"x"}, {}]> <4x8xf32> loc({{.*}}). Results: Replicated <4x8xf32>}}
  %0 = mpmd.fragment_call<mesh="m1", origin=[]> @f(%a) : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !m1
  // expected-error@+1 {{Internal error: reshard-only fragment 'f' is not an inferred fragment}}
  %1 = mpmd.fragment_call<mesh="m1", origin=["g"]> @f(%0) : (!m1) -> !m1
  return %1 : !m1
}

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %x : tensor<4x8xf32>
}
