// RUN: sdy-opt %s -mpmd-pipeline-scheduler | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: sdy-opt %s -mpmd-pipeline-scheduler=must-happen-before=GPipe | FileCheck %s --check-prefixes=CHECK,GPIPE
// RUN: sdy-opt %s '-mpmd-pipeline-scheduler=must-happen-before=builtin:GPipe exact=true' | FileCheck %s --check-prefixes=CHECK,GPIPE
// RUN: sdy-opt %s -mpmd-pipeline-scheduler=must-happen-before=none | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: sdy-opt %s -mpmd-optimize-pipeline=pipeline-schedule=GPipe | FileCheck %s --check-prefixes=CHECK,GPIPE

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>

// CHECK-LABEL: func.func @main
// ONE: mpmd.fragment<mesh="m1", origin=["s1"]> {{.*}} {call_counter = 0 : ui32}
// ONE: mpmd.fragment<mesh="m1", origin=["s1"]> {{.*}} {call_counter = 1 : ui32}
// ONE: mpmd.fragment<mesh="m1", origin=["s1"(1)]> {{.*}} {call_counter = 0 : ui32}
// ONE: mpmd.fragment<mesh="m1", origin=["s1"]> {{.*}} {call_counter = 2 : ui32}
// ONE: mpmd.fragment<mesh="m1", origin=["s1"(1)]> {{.*}} {call_counter = 1 : ui32}
// ONE: mpmd.fragment<mesh="m1", origin=["s1"(1)]> {{.*}} {call_counter = 2 : ui32}
// GPIPE: mpmd.fragment<mesh="m1", origin=["s1"]> {{.*}} {call_counter = 0 : ui32}
// GPIPE: mpmd.fragment<mesh="m1", origin=["s1"]> {{.*}} {call_counter = 1 : ui32}
// GPIPE: mpmd.fragment<mesh="m1", origin=["s1"]> {{.*}} {call_counter = 2 : ui32}
// GPIPE: mpmd.fragment<mesh="m1", origin=["s1"(1)]> {{.*}} {call_counter = 0 : ui32}
// GPIPE: mpmd.fragment<mesh="m1", origin=["s1"(1)]> {{.*}} {call_counter = 1 : ui32}
// GPIPE: mpmd.fragment<mesh="m1", origin=["s1"(1)]> {{.*}} {call_counter = 2 : ui32}
// NONE: mpmd.fragment<mesh="m1", origin=["s1"]> {{.*}} {call_counter = 0 : ui32}
// NONE: mpmd.fragment<mesh="m1", origin=["s1"(1)]> {{.*}} {call_counter = 0 : ui32}
// NONE: mpmd.fragment<mesh="m1", origin=["s1"]> {{.*}} {call_counter = 1 : ui32}
// NONE: mpmd.fragment<mesh="m1", origin=["s1"(1)]> {{.*}} {call_counter = 1 : ui32}
// NONE: mpmd.fragment<mesh="m1", origin=["s1"]> {{.*}} {call_counter = 2 : ui32}
// NONE: mpmd.fragment<mesh="m1", origin=["s1"(1)]> {{.*}} {call_counter = 2 : ui32}
func.func @main(%x0: !m1, %x1: !m1, %x2: !m1) -> (!m1, !m1, !m1) attributes {
    topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>} {
  %f0 = mpmd.fragment<mesh="m1", origin=["s1"]> (%x0) {call_counter = 0 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  %h0 = mpmd.transfer %f0 : (!m1) -> !m2
  %g0 = mpmd.fragment<mesh="m2", origin=["s2"]> (%h0) {call_counter = 0 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m2) -> !m2
  %d0 = mpmd.fragment<mesh="m2", origin=["s2"(1)]> (%g0) {call_counter = 0 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m2) -> !m2
  %e0 = mpmd.transfer %d0 : (!m2) -> !m1
  %c0 = mpmd.fragment<mesh="m1", origin=["s1"(1)]> (%e0) {call_counter = 0 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  %f1 = mpmd.fragment<mesh="m1", origin=["s1"]> (%x1) {call_counter = 1 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  %h1 = mpmd.transfer %f1 : (!m1) -> !m2
  %g1 = mpmd.fragment<mesh="m2", origin=["s2"]> (%h1) {call_counter = 1 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m2) -> !m2
  %d1 = mpmd.fragment<mesh="m2", origin=["s2"(1)]> (%g1) {call_counter = 1 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m2) -> !m2
  %e1 = mpmd.transfer %d1 : (!m2) -> !m1
  %c1 = mpmd.fragment<mesh="m1", origin=["s1"(1)]> (%e1) {call_counter = 1 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  %f2 = mpmd.fragment<mesh="m1", origin=["s1"]> (%x2) {call_counter = 2 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  %h2 = mpmd.transfer %f2 : (!m1) -> !m2
  %g2 = mpmd.fragment<mesh="m2", origin=["s2"]> (%h2) {call_counter = 2 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m2) -> !m2
  %d2 = mpmd.fragment<mesh="m2", origin=["s2"(1)]> (%g2) {call_counter = 2 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m2) -> !m2
  %e2 = mpmd.transfer %d2 : (!m2) -> !m1
  %c2 = mpmd.fragment<mesh="m1", origin=["s1"(1)]> (%e2) {call_counter = 2 : ui32} (%b: tensor<4xf32>) {
    mpmd.return %b : tensor<4xf32>
  } : (!m1) -> !m1
  return %c0, %c1, %c2 : !m1, !m1, !m1
}
