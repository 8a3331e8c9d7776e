// RUN: not sdy-opt %s -mpmd-mark-input-output-with-layouts -split-input-file 2>&1 | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>

// CHECK: error: Arg #0 is returned as result #0, but with incompatible layouts: "{0,1}" vs. <<NULL ATTRIBUTE>>: state one of them, or "auto", as 'mhlo.layout_mode' of both
func.func @main(%a: !m1 {mhlo.layout_mode = "{0,1}"}) -> !m1 attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  return %a : !m1
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>

// CHECK: error: Result #2 is also returned as result #1, but with incompatible layouts: "{1,0}" vs. "{0,1}"
func.func @main(%a: !m1) -> (!m1 {mhlo.layout_mode = "auto"}, !m1 {mhlo.layout_mode = "{0,1}"}, !m1 {mhlo.layout_mode = "{1,0}"}) attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %0, %0, %0 : !m1, !m1, !m1
}
