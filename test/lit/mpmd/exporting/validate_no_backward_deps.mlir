// RUN: sdy-opt %s -mpmd-validate-no-backward-deps --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: !m2) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m2", origin=["f"]> @f(%a) : (!m2) -> !m2
  %1 = mpmd.transfer %0 : (!m2) -> !m1
  // expected-warning@+1 {{Detected backward dependency but expected forward-only pipeline since there are no transpose fragments: fragment "f" mesh="m2" produces a value consumed by fragment "g" mesh="m1".}}
  %2 = mpmd.fragment_call<mesh="m1", origin=["g"]> @g(%1) : (!m1) -> !m1
  return %2 : !m1
}

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %x : tensor<4x8xf32>
}

func.func @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %x : tensor<4x8xf32>
}
