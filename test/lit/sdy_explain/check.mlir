// RUN: sdy-explain %s --check="no all_gather; at most 64 bytes" 2>&1 | FileCheck %s --check-prefix=HOLDS
// RUN: not sdy-explain %s --check="no all_reduce in result*" --check="at most 1MB of memory" 2>&1 | FileCheck %s
// RUN: sdy-explain %s --check=%S/Inputs/contract.toml --collectives 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not sdy-explain %s --check="no all_reduce" --json 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: not sdy-explain %s --check="no all_reduc" 2>&1 | FileCheck %s --check-prefix=WRONG

// HOLDS: the program keeps its contract (2 limits)
// CHECK: {{.*}}:24:8: error: the contract 'no all_reduce in result*' is violated: found 1 collective, 64 bytes sent
// CHECK: note: all_reduce along x
// CHECK-NEXT: is a reduction over a dimension sharded along x
// CHECK-NOT: limit
// FILE: the program keeps its contract (3 limits)
// FILE: all_reduce along x
// JSON: the contract 'no all_reduce' is violated
// JSON: "mesh"
// WRONG: error: no collective 'all_reduc'; did you mean 'all_reduce'?

sdy.mesh @mesh = <["x"=2]>

func.func @main(
    %a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
