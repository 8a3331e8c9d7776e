// RUN: sdy-opt %s -mpmd-validate-no-param-transfers --verify-diagnostics
// RUN: sdy-opt %s -mpmd-validate-no-param-transfers=param-pattern=bat 2>&1 | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: !m1 loc("params['transformer']['w']"), %b: !m1 loc("batch")) -> (!m2, !m2) attributes {topology = #topology} {
  // expected-warning@+1 {{Detected cross-mesh transfer of a parameter matching "params['transformer" from mesh "m1" to "m2". JAX locations: ["params['transformer']['w']"]}}
  %0 = mpmd.transfer %a : (!m1) -> !m2
  // CHECK: Detected cross-mesh transfer of a parameter matching "bat" {{.*}} ["batch"]
  %1 = mpmd.transfer %b : (!m1) -> !m2
  return %0, %1 : !m2, !m2
}
