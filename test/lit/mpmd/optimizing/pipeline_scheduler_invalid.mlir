// RUN: not sdy-opt %s -mpmd-pipeline-scheduler=must-happen-before=1F2B 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: no schedule '1F2B'; did you mean '1f1b'?
// RUN: not sdy-opt %s '-mpmd-pipeline-scheduler=must-happen-before=1F2B exact=true' 2>&1 | FileCheck %s --check-prefix=EXACT
// EXACT: error: no schedule '1F2B' of C++ Shardy; did you mean '1f1b'?
// RUN: not sdy-opt %s -mpmd-pipeline-scheduler=must-happen-before=circular 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: {{[0-9]+}}:{{[0-9]+}}: error: {{.*}}schedule 'circular' needs the stages of fragments: assign names to stages, as in 'name@mesh/0'
// RUN: not sdy-opt %s -mpmd-pipeline-scheduler=must-happen-before=zb-h1 2>&1 | FileCheck %s --check-prefix=FORWARD
// FORWARD: error: {{.*}}schedule 'zb-h1' orders gradients, but the program has none
// RUN: not sdy-opt %s -mpmd-pipeline-scheduler=remove-control-dependencies=false 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: error: {{.*}}'remove-control-dependencies' is false, but the order leaves no dependencies: drop the option

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
func.func @main(%x0: !m1, %x1: !m1) -> (!m1, !m1) attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  %f0 = mpmd.fragment<mesh="m1", origin=["s1"]> (%x0) {call_counter = 0 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  %f1 = mpmd.fragment<mesh="m1", origin=["s1"]> (%x1) {call_counter = 1 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  return %f0, %f1 : !m1, !m1
}
