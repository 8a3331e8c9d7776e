// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s --sdy-propagation-pipeline=hints=x0:64 | FileCheck %s
// RUN: sdy-opt %s --sdy-plan-at-hints --sdy-basic-propagate --sdy-take-plan | FileCheck %s --check-prefix=BASIC
// RUN: not sdy-opt %s --sdy-propagation-pipeline=hints=y0:64 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not sdy-opt %s --sdy-propagation-pipeline=compatible=true 2>&1 | FileCheck %s --check-prefix=COMPATIBLE
// RUN: not sdy-opt %s --sdy-dynamic-to-static=sizes=x0:8 --sdy-propagation-pipeline=hints=x0:8 2>&1 | FileCheck %s --check-prefix=STATIC

// CHECK: sdy.symbols = {x0 = {hint = 64
// CHECK: sdy.mesh @mesh =
// CHECK: %arg0: tensor<?x16xf32>
// CHECK-SAME: sdy.sizes = ["x0", ""]
// CHECK-SAME: -> (tensor<?x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>})
// CHECK: dot_general
// CHECK-SAME: <@mesh, [{"data"}, {"model"}]>
// CHECK-SAME: -> tensor<?x8xf32>

// BASIC: sdy.symbols = {x0 = {hint = 128
// BASIC: tanh
// BASIC-SAME: {"data", ?}, {"model", ?}
// BASIC-SAME: tensor<?x8xf32>

// UNKNOWN: error: hint: the program has no size 'y0'; it has x0
// COMPATIBLE: only supports ranked tensors with a static shape
// STATIC: error: the program has no dynamic sizes, so it takes no 'hints'

func.func @main(
    %x: tensor<?x16xf32> {sdy.sharding = #sdy.sharding<mesh<["data"=4, "model"=2]>, [{"data"}, {}]>},
    %w: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<mesh<["data"=4, "model"=2]>, [{}, {"model"}]>})
    -> tensor<?x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  %1 = stablehlo.tanh %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
