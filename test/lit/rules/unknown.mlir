// RUN: sdy-opt %s -sdy-populate-op-sharding-rules -verify-diagnostics
// RUN: not sdy-opt %s -sdy-populate-op-sharding-rules --strict-rules 2>&1 | FileCheck %s

// Operations that nothing is known of: each is told about.

func.func @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // CHECK: unknown.mlir:9:8: error: custom call @unheard_of is unknown to SDY sharding rule registry
  // expected-warning@+1 {{custom call @unheard_of is unknown to SDY sharding rule registry: shardings do not propagate through it; register a rule with @sharding_rule("stablehlo.custom_call", target="unheard_of")}}
  %0 = stablehlo.custom_call @unheard_of(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-warning@+1 {{custom call @unheard_of is unknown to SDY sharding rule registry}}
  %1 = stablehlo.custom_call @unheard_of(%0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = stablehlo.custom_call @tpu_custom_call(%1) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-warning@+1 {{op 'math.absf' is unknown to SDY sharding rule registry}}
  %3 = math.absf %2 : tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}
