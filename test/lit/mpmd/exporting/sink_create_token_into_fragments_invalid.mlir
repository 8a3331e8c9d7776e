// RUN: sdy-opt %s -mpmd-sink-create-token-into-fragments --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

func.func @main(%a: !m1) -> (!m1, !stablehlo.token) attributes {
    topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>} {
  %t = stablehlo.create_token : !stablehlo.token
  // expected-error@+1 {{the token that is result 1 of the fragment is used outside}}
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %t) (%x: tensor<4xf32>, %k: !stablehlo.token) {
    mpmd.return %x, %k : tensor<4xf32>, !stablehlo.token
  } : (!m1, !stablehlo.token) -> (!m1, !stablehlo.token)
  return %0#0, %0#1 : !m1, !stablehlo.token
}
