// RUN: sdy-opt %s -sdy-collectives-to-reshards -split-input-file -verify-diagnostics | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @declared
func.func @declared(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.reshard %arg0 <@mesh, [{}, {}]>
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What the product leaves partial along "y" need not be declared.
// CHECK-LABEL: func.func @contracted
func.func @contracted(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: %[[P:.*]] = stablehlo.dot
  // CHECK-NEXT: sdy.reshard %[[P]] <@mesh, [{"x"}, {}]>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.reshard %[[P]] <@mesh, [{"x"}, {"y"}]>
  %2 = sdy.reduce_scatter [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Each all-reduce does a part.
// CHECK-LABEL: func.func @one_after_the_other
func.func @one_after_the_other(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}, %z: tensor<f32>) -> tensor<8xf32> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: %[[S:.*]] = stablehlo.reduce
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %[[S]]
  // CHECK-NEXT: sdy.reshard %[[R]]
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A maximum of equal values is that value.
// CHECK-LABEL: func.func @maximum
func.func @maximum(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.reshard %arg0
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The argument of 7 elements won't be sharded, and the barrier goes.
// CHECK-LABEL: func.func @others
func.func @others(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<7xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: sdy.reshard %arg0 <@mesh, [{}]>
  %0 = sdy.all_gather [{"y"}] %a out_sharding=<@mesh, [{}]> : tensor<7xf32>
  // CHECK-NEXT: sdy.all_gather [{"y"}] %arg1
  %1 = sdy.all_gather [{"y"}] %b out_sharding=<@mesh, [{}]> : tensor<8xf32>
  // CHECK-NEXT: %[[B:.*]] = sdy.propagation_barrier
  %2 = sdy.propagation_barrier %b allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  // CHECK-NEXT: sdy.reshard %[[B]] <@mesh, [{}]>
  %3 = sdy.all_gather [{"x"}] %2 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0, %1, %3 : tensor<7xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @complete(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  // expected-error @+2 {{'sdy.all_reduce' op adds up complete values: its operand is sharded as <@mesh, [{}]>, and is not partial along {"y"}, so the sum would be 4 times the value}}
  // expected-note @+1 {{declare the operand partial there by 'unreduced={"y"}' in its sharding, or use 'sdy.reshard', which adds up partial results only}}
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @scattered(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+2 {{'sdy.reduce_scatter' op adds up complete values: its operand has no sharding, and is not partial along {"x"}, so the sum would be 2 times the value}}
  // expected-note @+1 {{declare the operand partial}}
  %0 = sdy.reduce_scatter [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @of_another_kind(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %z: tensor<f32>) -> tensor<8xf32> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  // expected-error @+2 {{'sdy.all_reduce' op combines partial results by sum, but the operation that defines its operand combines them by max}}
  // expected-note @+1 {{use 'sdy.reshard', which combines them correctly}}
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
