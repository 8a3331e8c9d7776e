// RUN: sdy-opt %s -mpmd-mark-offloaded-input-output -split-input-file -verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// expected-error@+1 {{Memory kind mismatch between arg 0 and users: <<NULL ATTRIBUTE>> vs "pinned_host"; set 'mhlo.memory_kind' of the result, or move the value in a fragment}}
func.func @main(%a: !m1) -> (!m1 {mhlo.memory_kind = "pinned_host"}) attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  // expected-error@+1 {{Memory kind mismatch between result 0 and defining op: "pinned_host" vs <<NULL ATTRIBUTE>>}}
  return %a : !m1
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// expected-error@+2 {{Memory kind mismatch between users of arg 0: <<NULL ATTRIBUTE>> vs "pinned_host"}}
// expected-error@+1 {{Memory kind mismatch between arg 0 and users: "pinned_host" vs <<NULL ATTRIBUTE>>}}
func.func @main(%a: !m1 {mhlo.memory_kind = "pinned_host"}) -> (!m1, !m1 {mhlo.memory_kind = "pinned_host"}) attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m1) -> !m1
  // expected-error@+2 {{Memory kind mismatch between result 0 and defining op: <<NULL ATTRIBUTE>> vs "pinned_host"}}
  // expected-error@+1 {{Memory kind mismatch between result 1 and defining op: "pinned_host" vs <<NULL ATTRIBUTE>>}}
  return %a, %0 : !m1, !m1
}
