// RUN: sdy-opt %s -sdy-verify-unreduced-axes -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @dropped(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p"}], unreduced={"q"}>}, %arg1: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.multiply' op dropped unreduced axis 'q' without a blessed operation (e.g., sdy.reshard). This is an invalid transition from unreduced to reduced.}}
  %0 = stablehlo.multiply %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"p"}]>]>} : tensor<8xf32>
  return
}

// -----

// A part of an axis is missing.
sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @dropped_part(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p"}], unreduced={"q"}>}) {
  // expected-error@+1 {{dropped unreduced axis 'q'}}
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"p"}], unreduced={"q":(1)2}>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @introduced(%arg0: tensor<8x8xf32>) {
  // expected-error@+1 {{'stablehlo.dot' op cannot introduce 'max' unreduced axes. Expected 'sum'.}}
  %0 = stablehlo.dot %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"p"}, {}], unreduced=max{"q"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @conflicting(%arg0: tensor<8xf32>) {
  // expected-error@+1 {{'stablehlo.optimization_barrier' op results introduce unreduced axes with conflicting reduction ops}}
  %0:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"q"}>, <@mesh, [{}], unreduced={"q"}>]>} %arg0, %arg0 : tensor<8xf32>, tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @body(%arg0: tensor<8x8xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce' op cannot add new unreduced axis 'q'.}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.multiply across dimensions = [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"q"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @kept(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"q"}>}) {
  // expected-error@+1 {{'stablehlo.negate' op cannot change the reduction operator of kept unreduced axes from max to sum.}}
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"q"}>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @all_reduce(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"p"}>}) {
  // expected-error@+1 {{'stablehlo.all_reduce' op cannot reduce 'max' unreduced axes. Expected 'sum'.}}
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @unsharded(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"p"}>}) {
  // expected-error@+1 {{'sdy.all_reduce' op operand must be sharded.}}
  %0 = sdy.all_reduce {"q"} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @argument(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"p", "q"}>}) {
  // expected-error@+1 {{'func.call' op has unreduced axes mismatch for 'p, q' at call argument 0.}}
  call @callee(%arg0) : (tensor<8xf32>) -> ()
  return
}
func.func private @callee(tensor<8xf32>)

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @result() {
  // expected-error@+1 {{'func.call' op has unreduced axes mismatch for 'q' at call result 0.}}
  %0 = call @callee() : () -> tensor<8xf32>
  return
}
func.func private @callee() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"q"}>})

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @returned(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"q"}>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // expected-error@+1 {{'func.return' op has unreduced axes mismatch for 'q' at return value 0 without a blessed operation (e.g., sdy.reshard). This is an invalid transition from unreduced to reduced.}}
  return %arg0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["p"=2, "q"=4]>
func.func @returned_from_body(%arg0: tensor<8xf32>) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"p"}], unreduced={"q"}>]
      out_shardings=[<@mesh, [{"p"}]>] manual_axes={"p"} (%arg1: tensor<4xf32>) {
    // expected-error@+1 {{'sdy.return' op has unreduced axes mismatch for 'q' at return value 0}}
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// An all-reduce of a value without a sharding, where nothing is unreduced. The errors of all
// functions are reported.
sdy.mesh @mesh = <["x"=2]>

func.func @first(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.all_reduce' op operand must be sharded.}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @right(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

func.func @second(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.all_reduce' op operand must be sharded.}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
