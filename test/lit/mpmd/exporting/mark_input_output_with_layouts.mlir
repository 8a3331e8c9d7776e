// RUN: sdy-opt %s -split-input-file -mpmd-mark-input-output-with-layouts | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// The layout of the first result is that of a transferred and of a returned value.
// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {mhlo.layout_mode = "{0,1}"}, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-SAME: -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {mhlo.layout_mode = "{1,0}"}, !mpmd.mesh_tensor<"m2", tensor<4x8xf32>> {mhlo.layout_mode = "{1,0}"}, !mpmd.mesh_tensor<"m2", tensor<4x8xf32>> {mhlo.layout_mode = "auto"})
// CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0, %arg1) {arg_attrs = [{mhlo.layout_mode = "{0,1}"}, {}], res_attrs = [{mhlo.layout_mode = "{1,0}"}]}
// CHECK: %[[T:.*]] = mpmd.transfer %[[F]]
// CHECK-NEXT: mpmd.fragment<mesh="m2", origin=["g"]> (%[[T]]) {arg_attrs = [{mhlo.layout_mode = "{1,0}"}], res_attrs = [{jax.buffer_donor = true, mhlo.layout_mode = "auto"}]}
func.func @main(%a: !m1 {mhlo.layout_mode = "{0,1}"}, %b: !m1 {mhlo.layout_mode = "default"}) -> (!m1 {mhlo.layout_mode = "{1,0}"}, !m2 {mhlo.layout_mode = "auto"}, !m2 {mhlo.layout_mode = "auto"}) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %b) (%x1: tensor<4x8xf32>, %x2: tensor<4x8xf32>) {
    %t = stablehlo.add %x1, %x2 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  %1 = mpmd.transfer %0 : (!m1) -> !m2
  %2 = mpmd.fragment<mesh="m2", origin=["g"]> (%1) {res_attrs = [{jax.buffer_donor = true}]} (%x: tensor<4x8xf32>) {
    %t = stablehlo.negate %x : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m2) -> !m2
  return %0, %1, %2 : !m1, !m2, !m2
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// Two fragments would choose for `%a`, and the second one for the first result: these get the
// default. An input that is an output has one layout.
// CHECK-LABEL: func.func @automatic(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {mhlo.layout_mode = "{0,1}"})
// CHECK-SAME: -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {mhlo.layout_mode = "auto"}, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {mhlo.layout_mode = "{0,1}"})
// CHECK-NEXT: mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) {arg_attrs = [{}], res_attrs = [{}]}
// CHECK: mpmd.fragment<mesh="m1", origin=["g"]> (%arg0, %{{.*}}) {arg_attrs = [{}, {}], res_attrs = [{mhlo.layout_mode = "auto"}]}
func.func @automatic(%a: !m1 {mhlo.layout_mode = "auto"}, %b: !m1 {mhlo.layout_mode = "auto"}) -> (!m1 {mhlo.layout_mode = "auto"}, !m1 {mhlo.layout_mode = "auto"}, !m1 {mhlo.layout_mode = "{0,1}"}) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    %t = stablehlo.negate %x : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%a, %0) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    %t = stablehlo.add %x, %y : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  return %0, %1, %b : !m1, !m1, !m1
}
