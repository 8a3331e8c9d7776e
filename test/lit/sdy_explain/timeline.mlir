// RUN: sdy-explain %s --timeline --hardware=h100 | FileCheck %s
// RUN: sdy-explain %s --timeline --hardware=h100 --json | FileCheck %s --check-prefix=JSON
// RUN: sdy-explain %s --overlap=schedule --hardware=h100 | FileCheck %s --check-prefix=COST
// RUN: sdy-explain %s --overlap=all --hardware=h100 | FileCheck %s --check-prefix=COST
// RUN: not sdy-explain %s --timeline --advise 2>&1 | FileCheck %s --check-prefix=ADVISE
// RUN: not sdy-explain %s --timeline --what-if=arg0=[{},{}] 2>&1 | FileCheck %s --check-prefix=WHATIF
// RUN: not sdy-explain %s --overlap=schedule --advise 2>&1 | FileCheck %s --check-prefix=OVERLAP

// CHECK: Timeline: {{.*}} us, {{.*}} us of it exposed communication
// CHECK: all_reduce {{.*}} timeline.mlir:{{[0-9]+}} {{.*}} its operand is computed just before: dot_general at
// CHECK: timeline.mlir:{{[0-9]+}}
// JSON: "timeline": {
// JSON-NEXT: "seconds": {{.*}},
// JSON-NEXT: "exposed": {{.*}},
// JSON: "kind": "all_reduce"
// JSON: "waiting": "tanh at timeline.mlir:{{[0-9]+}}"
// JSON: "reason": "its operand is computed just before: dot_general at timeline.mlir:{{[0-9]+}}"
// COST: total time
// COST-NEXT: exposed communication
// COST-NEXT: with all or no overlap {{.*}} us to {{.*}} us
// ADVISE: error: '--timeline' can't be combined with '--advise', which compares other programs: run each alone
// WHATIF: error: '--timeline' can't be combined with '--what-if', which compares other programs: run each alone
// OVERLAP: error: '--overlap' can't be combined with '--advise', which compares programs without overlap
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
