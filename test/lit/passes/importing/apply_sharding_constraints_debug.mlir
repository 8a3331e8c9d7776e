// What is applied is noted, inputs of manual computations too, for which C++ Shardy notes nothing.

// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-apply-sharding-constraints=debug-sharding-origins=true | FileCheck %s --check-prefix=ORIGINS
// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-apply-sharding-constraints=debug-propagation-edge-sharding=true | FileCheck %s --check-prefix=STEPS

sdy.mesh @mesh = <["x"=2, "y"=2]>
// ORIGINS-LABEL: func.func @main
// ORIGINS:      stablehlo.tanh %arg0 {{.*}}sdy.sharding_origins = [{x = "constraint_0", y = "constraint_0"}]
// ORIGINS-NEXT: sdy.sharding_constraint {{.*}}sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {x = "self", y = "self"}
// ORIGINS-NEXT: stablehlo.abs %arg0 {{.*}}sdy.sharding_origins = [{x = "mc_0_input: 0"}]
// ORIGINS:      sdy.sharding_origin_name = "mc_0"
// STEPS-LABEL: func.func @main
// STEPS:       sdy.sharding_constraint {{.*}}sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = result-0 -> [operand-0]}, {"y" = result-0 -> [operand-0]}]}]>
func.func @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %2 = stablehlo.abs %a : tensor<8x8xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"x"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    sdy.return %b : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}
