// RUN: sdy-opt %s "-sdy-convert-global-to-local=replica-count=2 partition-count=2" -verify-diagnostics
// RUN: not sdy-opt %s "-sdy-resolve-single-device-sharding=replica-count=0" 2>&1 | FileCheck %s
// RUN: not sdy-opt %s "-sdy-partition-pipeline=partition-count=-3" 2>&1 | FileCheck %s

// CHECK: error: {{.*}} option '{{replica-count|partition-count}}' is '{{0|-3}}': expected an integer of at least 1

// expected-error@below {{does not support both replica_count > 1 and partition_count > 1 yet. Of 2 replicas and 2 partitions, set only one, to 1 or more}}
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32>
  }
}
