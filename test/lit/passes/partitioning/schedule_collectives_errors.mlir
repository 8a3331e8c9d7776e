// RUN: sdy-opt %s -split-input-file -verify-diagnostics "-sdy-schedule-collectives=memory=8"
// RUN: not sdy-opt %s -split-input-file "-sdy-schedule-collectives=in-flight=0" 2>&1 | FileCheck %s --check-prefix=FLIGHT
// RUN: not sdy-opt %s -split-input-file "-sdy-schedule-collectives=window=-1" 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: not sdy-opt %s -split-input-file "-sdy-schedule-collectives=memory=lots" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not sdy-opt %s -split-input-file "-sdy-schedule-collectives=memory=-1GiB" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not sdy-opt %s -split-input-file "-sdy-schedule-collectives=order=needs" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not sdy-opt %s -split-input-file "-sdy-legalize-async=keep=all_gathers" 2>&1 | FileCheck %s --check-prefix=KEEP
// RUN: not sdy-opt %s -split-input-file "-sdy-partition-pipeline=overlap=scheduled" 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not sdy-run --overlap=alls %s 2>&1 | FileCheck %s --check-prefix=FLAG

// FLIGHT: error: {{.*}} option 'in-flight' is '0': expected an integer of at least 1
// WINDOW: error: {{.*}} option 'window' is '-1': expected a number of at least 0
// MEMORY: error: 'memory': expected a size such as '8MB' or '1GiB', got: '{{lots|-1GiB}}'
// ORDER: error: {{.*}}'order'{{.*}}expected {{.*}}need{{.*}}program
// KEEP: error: 'keep': 'all_gathers' is no collective; did you mean 'all_gather'?
// OVERLAP: error: {{.*}}'overlap'{{.*}}did you mean 'schedule'?
// FLAG: error: {{.*}}--overlap{{.*}}alls

// expected-warning@+1 {{the peak memory is 48 bytes before any collective is moved, more than the limit of 8: nothing is moved}}
module {
func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error@+1 {{'sdy-schedule-collectives' comes after the partitioner, for local programs: '@main' has shardings, and its types are global}}
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{'@main' has a future in its signature, which nothing can run: await it in the function that starts it}}
func.func @main(%a: !stablehlo.future<tensor<4xf32>>) -> tensor<4xf32> {
  %0 = "stablehlo.async_done"(%a) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  // expected-error@+1 {{a future is used by 'stablehlo.async_done' outside of the block of its start: await it by a 'stablehlo.async_done' in this block}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<4xf32>):
    %g = "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %g : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.if"(%p) ({
    %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'sdy-schedule-collectives' needs an entry '@main'; the program has '@step'}}
module {
func.func @step(%a: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
}
