// RUN: sdy-opt %s --schedule=%S/Inputs/schedule.toml | FileCheck %s
// RUN: sdy-opt %s --schedule=%S/Inputs/schedule.toml -sdy-partition-pipeline | FileCheck %s --check-prefix=LOCAL
// RUN: sdy-explain %s --schedule=%S/Inputs/schedule.toml | FileCheck %s --check-prefix=TABLE
// RUN: sdy-explain %s --schedule=%S/Inputs/schedule.toml --html=%t.html 2>&1 | FileCheck %s --check-prefix=WROTE
// RUN: FileCheck %s --check-prefix=PAGE < %t.html
// RUN: sdy-run %s --schedule=%S/Inputs/schedule.toml | FileCheck %s --check-prefix=NUMBERS
// RUN: not sdy-opt %s --schedule=%S/Inputs/missing.toml 2>&1 | FileCheck %s --check-prefix=MISSING

// TABLE: Schedule, estimated for
// TABLE: annotations {{ *}} 0
// TABLE: BP
// TABLE: MP {{.*}} +1 all_reduce model
// WROTE: wrote {{.*}}.html
// PAGE: data-step="2">MP</button>
// NUMBERS: OK: the results match
// MISSING: error: cannot read the schedule

sdy.mesh @mesh = <["data"=2, "model"=2]>

// CHECK: %arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}
// CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}
// CHECK-SAME: %arg2: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}
// LOCAL: %arg0: tensor<2x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4x4xf32>
func.func @main(%x: tensor<4x8xf32>, %up: tensor<8x8xf32>, %down: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // LOCAL: stablehlo.all_reduce
  %1 = stablehlo.dot_general %0, %down, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
