// RUN: sdy-opt %s -sdy-flatten-tuples -split-input-file -verify-diagnostics

// expected-error@+1 {{'func.func' op has a tuple that can't be taken apart: 'mhlo.sharding' is that of 1 parts, not 2: {{replicated}}}}
func.func @sharding_of_too_few(%t: tuple<tensor<8xf32>, tensor<4xf32>> {mhlo.sharding = "{{replicated}}"}) {
  return
}

// -----

// expected-error@+1 {{'tf.aliasing_output' is of another type: tensor<4xf32> and tuple<tensor<8xf32>>}}
func.func @alias_of_another_type(%t: tuple<tensor<8xf32>> {tf.aliasing_output = 0 : i32}, %a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
