// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-explain %s --value=%%product --value=arg1 --value='result 0' | FileCheck %s
// RUN: sdy-explain %s --value=weights | FileCheck %s --check-prefix=NAME
// RUN: sdy-explain - --value=2 < %S/Inputs/add.mlir | FileCheck %s --check-prefix=LINE
// RUN: sdy-explain %s --value=%%product --json | %python -m json.tool | FileCheck %s --check-prefix=JSON
// RUN: not sdy-explain %s --value=%%nothing 2>&1 | FileCheck %s --check-prefix=NONE

sdy.mesh @mesh = <["data"=2, "model"=2]>

func.func @main(
    %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>} loc("weights"))
    -> tensor<8x8xf32> {
  %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %wave = stablehlo.sine %product : tensor<8x8xf32>
  return %wave : tensor<8x8xf32>
}

// CHECK:      %product is result 0 of stablehlo.dot_general
// CHECK:        dimension 0, "data", 1 step from %x
// CHECK:        not by "model": no value that it is tied to has it: dimension 0
// CHECK:        to change it: shard dimension 1 of result 0 of @main by
// CHECK:      arg1 is weights (
// CHECK:      result 0 is result 0 of stablehlo.sine

// NAME: {{^}}weights (
// LINE: 2 is %[[X:[a-z]+]] (<stdin>:2:17)

// JSON: "values": {
// JSON:   "%product": [
// JSON:     "kind": "unoffered"

// NONE: sdy-explain: error: no value '%nothing': expected a name in the text ('%[[VALUE:[0-9]+]]', '%scores')
