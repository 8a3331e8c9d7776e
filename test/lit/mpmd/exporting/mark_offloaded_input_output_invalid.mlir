// RUN: not sdy-opt %s -mpmd-mark-offloaded-input-output -split-input-file 2>&1 | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK: error: memory kind mismatch: result 0 of the function is declared to be in 'pinned_host' memory, and its value is in the devices': set 'mhlo.memory_kind' of the result, or move the value in a fragment
func.func @main(%a: !m1) -> (!m1 {mhlo.memory_kind = "pinned_host"}) attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  return %a : !m1
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK: error: memory kind mismatch: result 0 of the function is declared to be in the devices' memory, and its value is in 'pinned_host'
func.func @main(%a: !m1 {mhlo.memory_kind = "pinned_host"}) -> !m1 attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  return %a : !m1
}
