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

// CHECK:      %product is result 0 of stablehlo.dot_general ({{.*}}values.mlir:14:14): <@mesh, [{"data", ?}, {?}]>
// CHECK-NEXT:   dimension 0, "data":
// CHECK-NEXT:     step {{[0-9]+}}: result 0 of stablehlo.dot_general ({{.*}}) got "data" from operand 0, forward along factor i=8
// CHECK-NEXT:     argument 0 of @main ({{.*}}values.mlir:11:5), given in the program: <@mesh, [{"data"}, {}]>
// CHECK-NEXT:   not sharded further:
// CHECK-NEXT:     "data" of operand 1 of stablehlo.dot_general ({{.*}}), along factor j=8: result 0 uses the axis along another dimension
// CHECK-NEXT:   to take a refused axis ('sdy-explain --advise' tries it):
// CHECK-NEXT:     constrain result 0 of stablehlo.dot_general to <@mesh, [{?}, {"data", ?}]>
// CHECK:      arg1 is argument 1 of @main
// CHECK:      result 0 is result 0 of stablehlo.sine

// NAME: weights is argument 1 of @main
// LINE: 2 is argument 0 of @main (<stdin>:2:17)

// JSON: "values": {
// JSON:   "%product": [
// JSON:     "reason": "in_use"

// NONE: sdy-explain: error: no value '%nothing': expected a name in the text ('%[[VALUE:[0-9]+]]', '%scores')
