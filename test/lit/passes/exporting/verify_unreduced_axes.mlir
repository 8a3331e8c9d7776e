// RUN: sdy-opt %s -sdy-verify-unreduced-axes | FileCheck %s

sdy.mesh @mesh = <["p"=2, "q"=4]>
sdy.mesh @other = <["p"=2, "q"=4, "r"=2]>

// CHECK-LABEL: func.func @blessed
func.func @blessed(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p"}], unreduced={"q"}>}) -> tensor<8xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"p"}]> : tensor<8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"p"}]>]>} : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// An operation may begin a sum, and keep it.
// CHECK-LABEL: func.func @introduced
func.func @introduced(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p"}], unreduced={"q"}>}) {
  %0 = stablehlo.cosine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"p"}], unreduced={"q"}>]>} : tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"p"}], unreduced={"q"}>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A reduction begins what its body does.
// CHECK-LABEL: func.func @reduction
func.func @reduction(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"q"}]>}, %arg1: tensor<f32>) {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"q"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce max {"q"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// StableHLO's reductions end what their body does.
// CHECK-LABEL: func.func @all_reduce
func.func @all_reduce(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=min{"p"}>}) {
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.minimum %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// Nothing is said of two meshes, nor of what a region of StableHLO returns.
// CHECK-LABEL: func.func @not_checked
func.func @not_checked(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"p"}>}, %arg1: tensor<i32>) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@other, [{}]>]>} : tensor<8xf32>
  %1 = "stablehlo.case"(%arg1) ({
    stablehlo.return %arg0 : tensor<8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<i32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @calls
func.func @calls(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"p"}>}) {
  %0 = call @callee(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"q"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @callee(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"p"}>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"q"}>})
