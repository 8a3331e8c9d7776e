// RUN: sdy-opt %s -split-input-file -verify-diagnostics "-sdy-pipeline-collectives=memory=8"
// RUN: not sdy-opt %s -split-input-file "-sdy-pipeline-collectives=min-gain=-1" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: not sdy-opt %s -split-input-file "-sdy-pipeline-collectives=max-peel=-1" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not sdy-opt %s -split-input-file "-sdy-pipeline-collectives=memory=-1GiB" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not sdy-opt %s -split-input-file "-sdy-pipeline-collectives=peel=never" 2>&1 | FileCheck %s --check-prefix=PEEL
// RUN: not sdy-opt %s -split-input-file "-sdy-partition-pipeline=overlap=all overlap-memory=lots" 2>&1 | FileCheck %s --check-prefix=LOTS
// RUN: sdy-opt %S/hardware.mlir "-sdy-partition-pipeline=overlap-memory=1GiB" 2>&1 | FileCheck %s --check-prefix=UNUSED

// GAIN: error: {{.*}} option 'min-gain' is '-1': expected a number of at least 0
// SIZE: error: {{.*}} option 'max-peel' is '-1': expected an integer of at least 0
// MEMORY: error: 'memory': expected a size such as '8MB' or '1GiB', got: '-1GiB'
// PEEL: error: {{.*}}'peel'{{.*}}expected {{.*}}auto{{.*}}true{{.*}}false
// LOTS: error: 'overlap-memory': expected a size such as '8MB' or '1GiB', got: 'lots'
// UNUSED: warning: 'overlap-memory' has no effect: 'overlap' is 'none'

// expected-warning@+1 {{the peak memory is 100 bytes before any collective is moved, more than the limit of 8: nothing is moved}}
module {
func.func @main(%stack: tensor<5x2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %start, %w = %stack, %h = %x) : tensor<i32>, tensor<5x2xf32>, tensor<4xf32>
  cond {
    %end = stablehlo.constant dense<5> : tensor<i32>
    %less = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.dynamic_slice %w, %i, %zero, sizes = [1, 2] : (tensor<5x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    %3 = stablehlo.add %h, %2 : tensor<4xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %w, %3 : tensor<i32>, tensor<5x2xf32>, tensor<4xf32>
  }
  return %r#2 : tensor<4xf32>
}
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error@+1 {{'sdy-pipeline-collectives' comes after the partitioner, for local programs: '@main' has shardings, and its types are global}}
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
