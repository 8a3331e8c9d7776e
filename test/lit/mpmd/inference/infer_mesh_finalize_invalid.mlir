// RUN: sdy-opt %s -mpmd-infer-mesh-finalize --split-input-file --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!host = !mpmd.mesh_tensor<"m1", tensor<4xf32>, memory_kind="pinned_host">
#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

// expected-error@+1 {{Argument 0 has different memory kinds assigned to it. Found at least one user with undefined memory kind and at least one user with a memory kind.}}
func.func @undefined_kind(%a: tensor<4xf32>) -> (!m1, !host) attributes {topology = #topology} {
  %0 = mpmd.assign %a : (tensor<4xf32>) -> !m1
  %1 = mpmd.assign %a : (tensor<4xf32>) -> !host
  return %0, %1 : !m1, !host
}

// -----

!device = !mpmd.mesh_tensor<"m1", tensor<4xf32>, memory_kind="device">
!host = !mpmd.mesh_tensor<"m1", tensor<4xf32>, memory_kind="pinned_host">
#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

// expected-error@+1 {{Argument 0 has different memory kinds assigned to it.}}
func.func @kinds(%a: tensor<4xf32>) -> (!device, !host) attributes {topology = #topology} {
  %0 = mpmd.assign %a : (tensor<4xf32>) -> !device
  %1 = mpmd.assign %a : (tensor<4xf32>) -> !host
  return %0, %1 : !device, !host
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

// expected-error@+1 {{function output 0 is not a MeshTensorType, but a 'tensor<4xf32>'}}
func.func @tensor(%a: !m1) -> tensor<4xf32> attributes {topology = #topology} {
  // expected-error@+1 {{assigns, unassigns or broadcasts are not allowed after mesh inference.}}
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

func.func @meshless(%a: !m1) -> !m1 attributes {topology = #topology} {
  // expected-error@+1 {{assigns, unassigns or broadcasts are not allowed after mesh inference.}}
  %0 = mpmd.unassign %a : (!m1) -> tensor<4xf32>
  // expected-error@+1 {{no more meshless ops are expected at this point.}}
  %1 = stablehlo.negate %0 : tensor<4xf32>
  // expected-error@+1 {{assigns, unassigns or broadcasts are not allowed after mesh inference.}}
  %2 = mpmd.assign %1 : (tensor<4xf32>) -> !m1
  return %2 : !m1
}
