// RUN: sdy-opt %s -mpmd-infer-mesh-populate-src-set -mpmd-infer-mesh-validate-src-set-not-empty=error-limit=-1 --split-input-file --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

func.func @conflict(%a: !m1, %b: !m2) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.unassign {origin = "f"} %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign {origin = "g"} %b : (!m2) -> tensor<4xf32>
  // expected-error@+1 {{Mesh assignment is not possible for op as its operands are on conflicting meshes}}
  %2 = stablehlo.subtract %0, %1 : tensor<4xf32>
  // The second error would follow from the first one.
  %3 = stablehlo.negate %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

func.func @reduction(%a: !m1, %b: !m2) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign %b : (!m2) -> tensor<4xf32>
  // expected-error@+1 {{set `mpmd_infer_cross_mesh_reductions`}}
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

func.func @calls(%a: !m1, %b: !m2) -> (tensor<4xf32>, tensor<4xf32>) attributes {topology = #topology} {
  %0 = mpmd.unassign {origin = "f"} %a : (!m1) -> tensor<4xf32>
  %1 = mpmd.unassign {origin = "g"} %b : (!m2) -> tensor<4xf32>
  %2 = mpmd.call @callee(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = mpmd.call @callee(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// expected-error@+1 {{Mesh assignment is not possible for arg0 of mpmd.call "callee" as its caller operands are on conflicting meshes and thus we need to transfer some of the operands. Add an explicit transfer to fix this.}}
func.func private @callee(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  // What an operation takes follows from the error above.
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
