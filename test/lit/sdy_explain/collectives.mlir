// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-explain %s | FileCheck %s
// RUN: sdy-explain %s --collectives --html=%t.html --model-explorer=%t.json | FileCheck %s --check-prefix=WHY
// RUN: grep -q "<!DOCTYPE html>" %t.html
// RUN: %python -m json.tool %t.json
// RUN: sdy-explain %s --diff=%S/Inputs/replicated.mlir --report-hardware=tpu-v5e | FileCheck %s --check-prefix=DIFF
// RUN: not sdy-explain %s --hardware=abacus 2>&1 | FileCheck %s --check-prefix=HARDWARE
// RUN: not sdy-explain %s.none 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not sdy-explain %s --values 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: sdy-explain --help | FileCheck %s --check-prefix=HELP

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @main(
    %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32>, tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0, %a : tensor<8x8xf32>, tensor<8x4xf32>
}

// CHECK:      4 devices, mesh <["x"=2, "y"=2]>
// CHECK:      Inputs
// CHECK:      %a {{.*}} tensor<8x2xf32> {{ *}} 64
// CHECK:      Outputs
// CHECK:      Collectives of pyshardy's partitioner (bytes sent by each device)
// CHECK:      all_reduce   x      {{.*}}collectives.mlir:18:8 {{ *}} result 0 of stablehlo.dot_general is a reduction over a dimension sharded along x of %a and %b {{ *}} 1 {{ *}} 256
// CHECK:      all_gather   x      {{.*}}collectives.mlir:15:5 {{ *}} %a must be resharded for result 1 of @main {{ *}} 1 {{ *}} 64
// CHECK:      Estimate for NVIDIA H100 SXM
// CHECK:      bytes sent {{ *}} 320

// WHY:      all_reduce along x at {{.*}}collectives.mlir:18:8: 256 bytes sent
// WHY-NEXT:   result 0 of stablehlo.dot_general is a reduction over a dimension sharded along x
// WHY-NEXT:   definition: result 0 of stablehlo.dot_general ({{.*}}): replicated
// WHY-NEXT:     %a ({{.*}}15:5), given in the program: <@mesh, [{}, {"x"}]>
// WHY-NEXT:     %b ({{.*}}16:5), given in the program: <@mesh, [{"x"}, {}]>
// WHY-NEXT:   chosen: all_reduce of the result (256 bytes)
// WHY-NEXT:   instead of: all_gather of %a and %b (128 bytes)
// WHY:      all_gather along x at {{.*}}collectives.mlir:15:5: 64 bytes sent
// WHY:        use: result 1 of @main ({{.*}}): <@mesh, [{}, {}]>

// RUN: sdy-explain %s --form=jax | FileCheck %s --check-prefix=FORM
// FORM: %a {{.*}} P(None, 'x') {{.*}} tensor<8x2xf32>

// DIFF: Estimates for Google TPU v5e
// DIFF: all_reduce {{.*}} 256 (1) {{.*}} 0 (0)

// HARDWARE: sdy-explain: error: unknown hardware 'abacus': expected one of a100, b200, cpu, default, h100, h200, mi300x, tpu-v5e, tpu-v5p, tpu-v6e, or a .toml file
// FILE: sdy-explain: error: cannot open input file '{{.*}}collectives.mlir.none': No such file or directory
// FLAG: sdy-explain: error: {{.*}} see sdy-explain --help
// HELP: usage: sdy-explain
