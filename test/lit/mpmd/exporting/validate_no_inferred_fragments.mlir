// RUN: sdy-opt %s -mpmd-validate-no-inferred-fragments=fail-on-inferred-fragments --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: !m1) -> !m1 attributes {topology = #topology} {
  // expected-error@+1 {{Inferred fragment has not been merged (inferred by uniquify)}}
  %0 = mpmd.fragment<mesh="m1", origin=[]> (%a) {mpmd.inferred_by = ["uniquify"]} (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  // expected-error@+1 {{Internal error: inferred fragment missing 'mpmd.inferred_by' attribute}}
  %1 = mpmd.fragment<mesh="m1", origin=[]> (%0) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %1 : !m1
}
