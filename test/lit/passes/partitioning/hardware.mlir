// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true compatibility=cheapest}))" | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true compatibility=cheapest hardware=%S/Inputs/two_hosts.toml}))" | FileCheck %s --check-prefix=HOSTS
// RUN: sdy-opt %s --pass-pipeline="builtin.module(sdy-partition-pipeline{hardware=%S/Inputs/two_hosts.toml})" | FileCheck %s --check-prefix=PARTITION
// RUN: sdy-run %s --hardware=%S/Inputs/two_hosts.toml | FileCheck %s --check-prefix=EXECUTED
// RUN: sdy-explain %s --hardware=%S/Inputs/two_hosts.toml | FileCheck %s --check-prefix=EXPLAINED
// RUN: not sdy-opt %s --pass-pipeline="builtin.module(func.func(sdy-hoist-reshards,sdy-optimize-reshards{hardware=abacus}))" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

sdy.mesh @mesh = <["host"=2, "device"=4]>

// CHECK-LABEL: @main
// CHECK: sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NOT: sdy.all_reduce
// HOSTS-LABEL: @main
// HOSTS: sdy.reshard %arg0 <@mesh, [{}, {"device"}]>
// HOSTS: sdy.all_reduce {"device"}
// PARTITION-LABEL: @main
// PARTITION: stablehlo.collective_permute
// PARTITION-NOT: stablehlo.all_gather
// PARTITION: stablehlo.all_reduce
// EXECUTED: collective_permute host, device
// EXPLAINED: collective_permute host, device
// EXPLAINED: Estimate for two hosts of 4
// UNKNOWN: error: unknown hardware 'abacus': expected one of a100, b200, cpu, default, h100, h200, mi300x, tpu-v5e, tpu-v5p, tpu-v6e, or a .toml file
func.func @main(
    %a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"host"}]>},
    %b: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"device"}, {}]>})
    -> (tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
