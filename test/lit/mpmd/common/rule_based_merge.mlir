// RUN: sdy-opt %s '-mpmd-rule-based-merge=rules=FragmentMergeRule(sources=[FragmentInfo(origins=["g"(1)],mesh_name="m1"),FragmentInfo(origins=["f"],call_counter=0)],target=FragmentInfo(origins=["f","g"(1)],stage=1,mesh_name="m1"))' | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-NEXT: %[[V0:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f", "g"(1)], stage=1> (%arg0) (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: %[[V2:.*]] = stablehlo.negate %arg1
// CHECK-NEXT: mpmd.return %[[V1]], %[[V2]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1
func.func @main(%a: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%a) (%x: tensor<4x8xf32>) {
    %t = stablehlo.negate %x : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %0, %1 : !m1, !m1
}

// Fragments that no rule names may have the same description.
// CHECK-LABEL: func.func @other_fragments_are_alike
// CHECK:      mpmd.fragment<mesh="m1", origin=["f", "g"(1)], stage=1>
// CHECK:      mpmd.fragment<mesh="m1", origin=["h"]>
// CHECK:      mpmd.fragment<mesh="m1", origin=["h"]>
func.func @other_fragments_are_alike(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%0) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["h"]> (%1) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  %3 = mpmd.fragment<mesh="m1", origin=["h"]> (%2) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %3 : !m1
}
