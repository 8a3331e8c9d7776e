// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-explain %s --html=%t.html --trace=%t.json --report-hardware=tpu-v5e 2>&1 | FileCheck %s --check-prefix=WROTE
// RUN: FileCheck %s --check-prefix=HTML < %t.html
// RUN: %python -m json.tool %t.json | FileCheck %s --check-prefix=TRACE
// RUN: sdy-explain %s --diff=%s --html=%t.diff.html 2>/dev/null
// RUN: FileCheck %s --check-prefix=DIFF < %t.diff.html
// RUN: not sdy-explain %s --trace=%t.missing/trace.json 2>&1 | FileCheck %s --check-prefix=FOLDER

sdy.mesh @mesh = <["data"=2, "model"=2]>

func.func @main(
    %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
    %w: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// WROTE: wrote {{.*}}.html
// WROTE: wrote {{.*}}.json

// HTML-DAG: <title>{{.*}}files.mlir
// HTML-DAG: @dagrejs/dagre
// HTML-DAG: Permission is hereby granted

// TRACE: "traceEvents"
// TRACE: "name": "dot_general"
// TRACE: "name": "all_reduce"
// TRACE: "axes": "data"
// TRACE: "name": "memory"

// DIFF: id="tab-compare"

// FOLDER: error: cannot write output file
