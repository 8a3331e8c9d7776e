// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-manual-axes-cleanup -sdy-sharding-group-import -sdy-import-func-calls

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@below {{another member, of type tensor<8xf32>, is here}}
  sdy.sharding_group %a group_id=3 : tensor<8xf32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{?}]>] out_shardings=[<@mesh, [{?}]>]
      manual_axes={} (%b: tensor<8xf32>) {
    // expected-error@below {{ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: 3}}
    sdy.sharding_group %b group_id=3 : tensor<8xf32>
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-note@below {{another member, of type tensor<8xf32>, is here}}
  sdy.sharding_group %a group_id=3 : tensor<8xf32>
  // expected-error@below {{ShardingGroupOps values must have the same shape for groupId: 3}}
  sdy.sharding_group %b group_id=3 : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main() {
  // expected-error@below {{op has manual_axes when there are no in/out shardings and the body is not empty}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
    %0 = stablehlo.constant dense<2.0> : tensor<8xf32>
    sdy.return
  } : () -> ()
  return
}

// -----

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expected-error@below {{function 'f' is called, but has several blocks}}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  cf.br ^end(%a : tensor<8xf32>)
^end(%x: tensor<8xf32>):
  return %x : tensor<8xf32>
}
