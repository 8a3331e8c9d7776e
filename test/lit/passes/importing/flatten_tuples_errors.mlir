// RUN: sdy-opt %s -sdy-flatten-tuples -split-input-file -verify-diagnostics

// expected-error@+1 {{'func.func' op has a tuple that can't be flattened: 'mhlo.sharding' has a length of 1, but the tuple of 2: {{replicated}}}}
func.func @sharding_of_too_few(%t: tuple<tensor<8xf32>, tensor<4xf32>> {mhlo.sharding = "{{replicated}}"}) {
  return
}

// -----

// expected-error@+1 {{'tf.aliasing_output' refers to a result of type tensor<4xf32>, not tuple<tensor<8xf32>>}}
func.func @alias_of_another_type(%t: tuple<tensor<8xf32>> {tf.aliasing_output = 0 : i32}, %a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
