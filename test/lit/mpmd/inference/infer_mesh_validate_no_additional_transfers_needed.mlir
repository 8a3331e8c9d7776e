// RUN: sdy-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-populate-src-set -mpmd-infer-mesh-validate-no-additional-transfers-needed --split-input-file --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

func.func @result_of_fragment(%a: !m1) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  %1 = mpmd.unassign {origin = "f"} %0 : (!m1) -> tensor<4xf32>
  %2 = stablehlo.negate %1 : tensor<4xf32>
  // The last operation before the transfer is reported.
  // expected-error@+1 {{it is used in {m2} but it can only be placed on {m1} without introducing a transfer}}
  %3 = stablehlo.negate %2 : tensor<4xf32>
  // expected-error@+1 {{it is used in {m2} but it can only be placed on {m1} without introducing a transfer}}
  %4 = mpmd.assign {origin = "g"} %3 : (tensor<4xf32>) -> !m2
  return %4 : !m2
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// An argument can be transferred.
func.func @argument(%a: !m1) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.unassign {origin = "f"} %a : (!m1) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = mpmd.assign {origin = "g"} %1 : (tensor<4xf32>) -> !m2
  return %2 : !m2
}
