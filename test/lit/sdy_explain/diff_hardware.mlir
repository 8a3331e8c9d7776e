// RUN: sdy-explain %s --hardware=h100 --diff-hardware=%S/Inputs/slow_data.toml | FileCheck %s
// RUN: not sdy-explain %s --diff-hardware=cpu --diff=%s 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not sdy-explain %s --diff-hardware=h10 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// BOTH: error: '--diff-hardware' compares plans for two kinds of hardware: it can't be combined with '--diff'
// UNKNOWN: error: unknown hardware 'h10': expected one of

// CHECK: NVIDIA H100 SXM: NVIDIA H100 SXM
// CHECK-NEXT: slow network: slow network (measured on 2026-11-27, 8 x device, data:2,model:4, jax 0.10.2)
// CHECK: cost {{ +}}on NVIDIA H100 SXM {{ +}}the same on slow network {{ +}}the plan for slow network
// CHECK: bytes sent 524,288 524,288 851,968
// CHECK: total time {{.*}} us {{ +}}[[#]]{{.*}} ms
// CHECK: Different collectives: bytes sent (count)
// CHECK: all_gather {{ +}}data {{ +}}131,072 (1) {{ +}}0 (0)

sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(
    %a: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
    %b: tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> tensor<256x512xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<256x256xf32>, tensor<256x512xf32>) -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}
