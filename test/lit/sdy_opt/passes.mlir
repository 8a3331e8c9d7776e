// Python and C++ passes in one pipeline, by flags and as text, with what watches them.

// RUN: sdy-opt %s --cse --canonicalize='max-iterations=2' | FileCheck %s
// RUN: sdy-opt --pass-pipeline='builtin.module(func.func(cse), canonicalize{max-iterations=2})' < %s | FileCheck %s
// RUN: sdy-opt %s -cse -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: sdy-opt %s --emit-bytecode -o %t.mlirbc && sdy-opt %t.mlirbc --cse | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline='func.func(cse,canonicalize)' --mlir-print-ir-after-change --mlir-timing -o %t.mlir 2>&1 | FileCheck %s --check-prefix=WATCH
// RUN: sdy-opt %s --mlir-print-op-generic --mlir-print-debuginfo | FileCheck %s --check-prefix=GENERIC

// CHECK:       sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @twice(
// CHECK-SAME:      %[[ARG:.*]]: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.add %[[ARG]], %[[ARG]]
// CHECK-NEXT:    %[[PRODUCT:.*]] = stablehlo.multiply %[[SUM]], %[[SUM]]
// CHECK-NEXT:    return %[[PRODUCT]]

// WATCH:      // -----// IR Dump After Cse (cse) //----- //
// WATCH-NEXT: func.func @twice(
// WATCH-NOT:  IR Dump
// WATCH:      Execution time report
// WATCH:      Imports
// WATCH-NEXT: Dialects
// WATCH-NEXT: Parser
// WATCH-NEXT: Verification
// WATCH-NEXT: 'func.func' Pipeline
// WATCH-NEXT:   Cse
// WATCH-NEXT:   Canonicalize
// WATCH-NEXT: Output
// WATCH-NEXT: Rest
// WATCH-NEXT: Total

// GENERIC: "sdy.mesh"()
// GENERIC: "stablehlo.add"({{.*}} loc(#[[LOC:.*]])
// GENERIC: #[[LOC]] = loc("{{.*}}passes.mlir":[[# @LINE + 4]]:8)
sdy.mesh @mesh = <["x"=2]>

func.func @twice(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
  %1 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
