// RUN: sdy-opt %s -sdy-aggressive-propagate='debug-sharding-origins=true' | FileCheck %s --check-prefix=ORIGINS
// RUN: sdy-opt %s -sdy-aggressive-propagate='debug-propagation-edge-sharding=true' | FileCheck %s --check-prefix=EDGES
// RUN: sdy-opt %s -sdy-aggressive-propagate='debug-sharding-origins=true debug-propagation-edge-sharding=true' -sdy-remove-propagation-debug-info | FileCheck %s --check-prefix=NEITHER
// RUN: rm -rf %t && mkdir -p %t && sdy-opt %s --pass-pipeline='builtin.module(sdy-propagation-pipeline{debug-sharding-origins=true debug-propagation-edge-sharding=true dump-directory=%t})' | FileCheck %s --check-prefix=NEITHER
// RUN: FileCheck %s --check-prefix=DUMP --input-file=%t/03.after_propagation.mlir

sdy.mesh @mesh = <["a"=2, "b"=2]>

// NEITHER-NOT: sdy.sharding_origins
// NEITHER-NOT: sdy.propagation_edges

// ORIGINS: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>, sdy.sharding_origins = {a = "self"}}
// ORIGINS-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>, sdy.sharding_origins = {a = "input: 0"}}
// ORIGINS-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>, sdy.sharding_origins = {b = "constraint_0"}}
// EDGES-LABEL: func.func @main
// DUMP: sdy.sharding_origins = {b = "constraint_0"}
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
  // ORIGINS: stablehlo.add %arg0, %arg1 {sdy.sharding = {{.*}}, sdy.sharding_origins = [{a = "input: 0"}]}
  // EDGES: stablehlo.add %arg0, %arg1 {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [operand-1, result-0]}]}]>
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  // ORIGINS: sdy.sharding_constraint %[[VALUE:[0-9]+]] <@mesh, [{"b"}]> {sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {b = "self"}}
  %1 = sdy.sharding_constraint %0 <@mesh, [{"b"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
