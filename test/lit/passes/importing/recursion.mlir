// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-flatten-call-graph
// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-import-func-calls

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{function 'f' calls itself: recursive functions can't be}}
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @even(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @even(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{function 'even' calls itself: recursive functions can't be}}
  %0 = call @odd(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @odd(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@below {{which calls 'even' here}}
  %0 = call @even(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
