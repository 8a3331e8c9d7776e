// RUN: sdy-opt %s -mpmd-verify-stage-merging --split-input-file --verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

func.func @other_microbatch(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], stage=1> (%a) {call_counter = 0 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["f"], stage=1> (%0) {call_counter = 1 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["f"(1)], stage=1> (%1) {call_counter = 1 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  return %2 : !m1
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>>

func.func @not_merged(%a: !m1) -> !m1 attributes {topology = #topology} {
  // expected-note@below {{the other fragment is here}}
  %0 = mpmd.fragment<mesh="m1", origin=["f"], stage=1> (%a) (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  // expected-error@below {{found multiple fragments with the same attributes: [mesh=m1, stage_id=1, transpose_count=0, call_count=1, split_type=nullopt, is_remat=0] for current fragment with origin: [#mpmd.user_origin<"g">]}}
  %1 = mpmd.fragment<mesh="m1", origin=["g"], stage=1> (%0) {call_counter = 1 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  // expected-note@below {{the other fragment is here}}
  %2 = mpmd.fragment<mesh="m1", origin=["g"(1)], stage=2> (%1) {remat, split_drop_transferred} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  // expected-error@below {{transpose_count=1, call_count=-1, split_type=kDropTransferred, is_remat=1]}}
  %3 = mpmd.fragment<mesh="m1", origin=["f"(1)], stage=2> (%2) {remat, split_drop_transferred} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  return %3 : !m1
}
