// What C++ Shardy refuses too is in test/support/mpmd_texts.py.

// RUN: sdy-opt %s --split-input-file --verify-diagnostics

!mesh1 = !mpmd.mesh_tensor<"mesh1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"mesh1" : <["x"=2]>>>

func.func @near_name(%a: !mesh1) attributes {topology = #topology} {
  // expected-error@below {{Topology doesn't have a mesh with name: mesh2; did you mean 'mesh1'?}}
  mpmd.fragment<mesh="mesh2", origin=[]> () () {
    mpmd.return
  } : () -> ()
  return
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<3x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

func.func @uneven(%a: !m1) attributes {topology = #topology} {
  // expected-error@below {{in_shardings: dim 0 with size 3 is not divisible by its sharded size 2}}
  mpmd.fragment<mesh="m1", origin=[], in_shardings=[<@mesh, [{"x"}, {}]>]> (%a) (%b: tensor<3x8xf32>) {
    mpmd.return
  } : (!m1) -> ()
  return
}

// -----

#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

func.func @unknown_function(%a: tensor<4xf32>) attributes {topology = #topology} {
  // expected-error@below {{'layers' does not reference a valid function; did you mean '@layer'?}}
  %0 = mpmd.call @layers(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

func.func private @layer(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  return %a : tensor<4xf32>
}

// -----

#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

func.func @number_of_operands(%a: tensor<4xf32>) attributes {topology = #topology} {
  // expected-error@below {{Type mismatch. Expected 1 call operands but got 2}}
  %0 = mpmd.call @layer(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

func.func private @layer(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  return %a : tensor<4xf32>
}

// -----

// expected-error@below {{the name of a mesh occurs twice: "m1"}}
func.func private @twice() attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m1" : <["x"=2]>>>}

// -----

// expected-error@below {{the name of a mesh must not contain "#device": "m#device"}}
func.func private @suffix() attributes {topology = #mpmd.topology<<"m#device" : <["x"=2]>>>}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
func.func @type_of_a_value(%a: !m1) -> !m1 attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  // expected-error@below {{of value '%a' expects different type than prior uses: 'tensor<4xf32>' vs '!mpmd.mesh_tensor<"m1", tensor<4xf32>>'}}
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %a : !m1
}

// -----

// expected-error@below {{unknown attribute `mesh_tensor` in dialect `mpmd`}}
func.func private @sigil() attributes {topology = #mpmd.mesh_tensor<"m1", tensor<4xf32>>}

// -----

// expected-error@below {{expected 'x' in dimension list in 'tensor<4with>'}}
func.func private @malformed() -> !mpmd.mesh_tensor<"m1", tensor<4with>>

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// expected-error@+4 {{block with no terminator}}
func.func @unreturned(%a: !m1) -> !m1 attributes {
    topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m1) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>>
  %1 = mpmd.transfer %0 : (!mpmd.mesh_tensor<"m2", tensor<4xf32>>) -> !m1
}
