// RUN: sdy-opt %s --pass-pipeline="builtin.module(sdy-schedule{file=%S/Inputs/schedule.toml})" | FileCheck %s
// RUN: sdy-opt %s --sdy-schedule="tactics=\"[{kind='batch', inputs='x', axis='data'}, {kind='megatron', first='up', axis='model'}]\"" | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline="builtin.module(sdy-schedule{file=%S/Inputs/schedule.toml},sdy-partition-pipeline)" | FileCheck %s --check-prefix=LOCAL
// RUN: not sdy-opt %s --sdy-schedule 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not sdy-opt %s --sdy-schedule="tactics=\"[{kind='bach'}]\"" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// MISSING: error: 'sdy-schedule' needs either the option 'file' or 'tactics'
// UNKNOWN: error: there is no tactic 'bach'; did you mean 'batch'?

sdy.mesh @mesh = <["data"=2, "model"=2]>

// CHECK:      func.func @main(
// CHECK-SAME:   %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}
// CHECK-SAME:   %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}
// CHECK-SAME:   %arg2: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}
// LOCAL: func.func @main(%arg0: tensor<4x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<16x16xf32>)
func.func @main(%x: tensor<8x16xf32> loc("x"), %up: tensor<16x32xf32> loc("up"),
                %down: tensor<32x16xf32> loc("down")) -> tensor<8x16xf32> {
  // CHECK: stablehlo.dot_general {{.*}} [{"data"}, {"model"}]
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  // LOCAL: stablehlo.all_reduce
  %1 = stablehlo.dot_general %0, %down, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
