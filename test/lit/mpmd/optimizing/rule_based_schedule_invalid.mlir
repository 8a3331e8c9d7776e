// RUN: sdy-opt %s '-mpmd-rule-based-schedule=rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["g"])->FragmentInfo(origins=["f"])]),FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"])->FragmentInfo(origins=["h"])]),FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"])->FragmentInfo(origins=["k"])])' --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// expected-warning@+1 {{no fragment is FragmentInfo(origins=["k"]), which a rule orders}}
func.func @main(%a: !m1, %b: !m2) -> (!m1, !m2) attributes {topology = #topology} {
  // expected-warning@+1 {{FragmentInfo(origins=["g"]) needs FragmentInfo(origins=["f"]), which a rule puts after it}}
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%0) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  // expected-warning@+1 {{a rule orders fragments of different meshes}}
  %2 = mpmd.fragment<mesh="m2", origin=["h"]> (%b) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m2) -> !m2
  return %1, %2 : !m1, !m2
}
