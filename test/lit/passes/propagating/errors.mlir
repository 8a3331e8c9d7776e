// RUN: sdy-opt %s --split-input-file --verify-diagnostics -sdy-basic-propagate

func.func @dynamic(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@below {{Shardy propagation only supports ranked tensors with a static shape. type: 'tensor<?xf32>'}}
  %0 = stablehlo.negate %arg0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error@below {{a module with several functions must have one called 'main'}}
func.func @f() {
  return
}

func.func @g() {
  return
}

// -----

func.func @unknown(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-warning@below {{custom call @unheard_of is unknown to SDY sharding rule registry: shardings do not propagate through it}}
  %0 = stablehlo.custom_call @unheard_of(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
