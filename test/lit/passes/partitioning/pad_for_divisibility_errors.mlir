// RUN: sdy-opt %s -sdy-pad-for-divisibility -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>
func.func @reshard(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  // expected-error@+1 {{'sdy.reshard' op is left: run 'sdy-reshard-to-collectives' first}}
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<7xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %2 : tensor<7xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @constraint(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' op is left: run 'sdy-sharding-constraint-to-reshard' first}}
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<7xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %1 : tensor<7xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @edge(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  %0 = stablehlo.optimization_barrier %arg0 : tensor<7xf32>
  // expected-error@+1 {{'sdy.data_flow_edge' op is left: run 'sdy-sink-data-flow-edges' first}}
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %2 : tensor<7xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @disagreeing(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  // expected-error@+1 {{'stablehlo.negate' op has incompatible shardings: dimensions of one factor would be padded to 7 and 8: run 'sdy-insert-explicit-reshards{enable-full-version=true}' and 'sdy-reshard-to-collectives' first}}
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %1 : tensor<7xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @flow(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  // expected-error@+1 {{'stablehlo.optimization_barrier' op operand 0 would be padded to [7], but the value that it flows to would be padded to [8]: run 'sdy-insert-explicit-reshards{enable-full-version=true}' and 'sdy-reshard-to-collectives' first}}
  %0 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} %arg0 : tensor<7xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %1 : tensor<7xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @argument_of_a_call(%arg0: tensor<7xf32>) {
  // expected-error@+1 {{'func.call' op operand 0 would be padded to [7], but the value that it flows to would be padded to [8]}}
  call @callee(%arg0) : (tensor<7xf32>) -> ()
  return
}
func.func private @callee(%arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @result_of_a_call() {
  // expected-error@+1 {{'func.call' op result 0 would be padded to [7], but that of the callee would be padded to [8]: run 'sdy-insert-func-call-reshards' and 'sdy-reshard-to-collectives' first}}
  %0 = call @callee() : () -> tensor<7xf32>
  return
}
func.func private @callee() -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error@+1 {{'func.func' op argument #0 has a non-divisible sharding. Shardy expects function IO to be divisible. Its type is tensor<7xf32>, its sharding <@mesh, [{"x"}]>: run 'sdy-update-non-divisible-input-output-shardings'}}
func.func @public(%arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}
