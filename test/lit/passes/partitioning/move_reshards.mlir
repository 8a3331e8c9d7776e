// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s -sdy-move-reshards | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline="builtin.module(sdy-partition-pipeline)" | FileCheck %s --check-prefix=LOCAL
// RUN: sdy-run %s | FileCheck %s --check-prefix=EXECUTED

sdy.mesh @mesh = <["x"=4]>

// The parts of a product are needed by rows: its value is resharded once, instead of a halo exchange
// and a reshard for each part. The bias stays sharded along columns.
// CHECK-LABEL: func.func @main
// CHECK: %[[SUM:.*]] = stablehlo.add {{.*}}<@mesh, [{}, {"x"}]>
// CHECK-NEXT: %[[ROWS:.*]] = sdy.reshard %[[SUM]] <@mesh, [{"x"}, {}]> : tensor<8x24xf32>
// CHECK-NEXT: %[[A:.*]] = stablehlo.slice %[[ROWS]] [0:8, 0:8] {{.*}}<@mesh, [{"x"}, {}]>
// CHECK-NEXT: %[[B:.*]] = stablehlo.slice %[[ROWS]] [0:8, 8:16] {{.*}}<@mesh, [{"x"}, {}]>
// CHECK-NEXT: %[[C:.*]] = stablehlo.slice %[[ROWS]] [0:8, 16:24] {{.*}}<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
// LOCAL-LABEL: func.func @main
// LOCAL-COUNT-1: stablehlo.all_to_all
// LOCAL-NOT: stablehlo.collective_permute
// LOCAL: return
// EXECUTED: all_to_all x 4 1 1 192 144
// EXECUTED: OK: the results match
func.func @main(%arg0: tensor<8x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                  %arg1: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<24xf32>) -> tensor<8x24xf32>
  %1 = stablehlo.add %arg0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x24xf32>
  %2 = stablehlo.slice %1 [0:8, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x24xf32>) -> tensor<8x8xf32>
  %3 = sdy.reshard %2 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %4 = stablehlo.slice %1 [0:8, 8:16] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x24xf32>) -> tensor<8x8xf32>
  %5 = sdy.reshard %4 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %6 = stablehlo.slice %1 [0:8, 16:24] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x24xf32>) -> tensor<8x8xf32>
  %7 = sdy.reshard %6 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %3, %5, %7 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// A norm between two reshards is computed by rows: the all-reduce of its sum goes away, too.
// Condition 3: the reduced factor isn't sharded any more.
// CHECK-LABEL: func.func @norm
// CHECK-NOT: sdy.all_reduce
// CHECK: %[[SQUARE:.*]] = stablehlo.multiply %arg0, %arg0 {{.*}}<@mesh, [{"x"}, {}]>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.reduce(%[[SQUARE]] {{.*}}<@mesh, [{"x"}]>
// CHECK-NEXT: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[SUM]], dims = [0] {{.*}}<@mesh, [{"x"}, {}]>
// CHECK-NEXT: %[[DIVIDE:.*]] = stablehlo.divide %arg0, %[[ALL]] {{.*}}<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %[[DIVIDE]]
// LOCAL-LABEL: func.func @norm
// LOCAL-NOT: stablehlo.all_
// LOCAL: return
func.func @norm(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<8x16xf32>
  %1 = stablehlo.multiply %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x16xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8xf32>) -> tensor<8x16xf32>
  %5 = stablehlo.divide %0, %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x16xf32>
  %6 = sdy.reshard %5 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  return %6 : tensor<8x16xf32>
}

// Condition 5: four shards don't divide six rows.
// CHECK-LABEL: func.func @uneven
// CHECK-NEXT: stablehlo.slice %arg0 {{.*}}<@mesh, [{}, {"x"}]>
// CHECK-NEXT: sdy.reshard
func.func @uneven(%arg0: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<6x8xf32> {
  %0 = stablehlo.slice %arg0 [0:6, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<6x16xf32>) -> tensor<6x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// Condition 3: a sum over the rows can't be sharded along them; it would be partial.
// CHECK-LABEL: func.func @summed
// CHECK: stablehlo.reduce(%arg0 {{.*}}<@mesh, [{}, {"x"}]>
// CHECK-NEXT: sdy.reshard
func.func @summed(%arg0: tensor<8x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) -> tensor<8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// Condition 1: a plan has chosen the axes.
// CHECK-LABEL: func.func @planned
// CHECK-NEXT: stablehlo.slice %arg0
// CHECK-NEXT: sdy.reshard
func.func @planned(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.slice %arg0 [0:8, 0:8] {sdy.factor_axes = #sdy<list_of_axis_ref_lists[{}, {"x"}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x16xf32>) -> tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A reshard within the region stays: its source and target change together, which saves nothing.
// CHECK-LABEL: func.func @symmetric
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0
// CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %[[T]] <@mesh, [{"x"}, {}]>
// CHECK-NEXT: stablehlo.add %arg0, %[[RESHARD]]
func.func @symmetric(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.add %arg0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// A gather before the slice would send twice as much.
// CHECK-LABEL: func.func @gathered
// CHECK-NEXT: stablehlo.slice %arg0
// CHECK-NEXT: sdy.reshard
func.func @gathered(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.slice %arg0 [0:8, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x16xf32>) -> tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A product uses a broadcast both as it is and resharded: the shardings of its operands stay.
// CHECK-LABEL: func.func @value_and_reshard
// CHECK: %[[BROADCAST:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1] {{.*}}<@mesh, [{}, {"x"}]>
// CHECK-NEXT: %[[ROWS:.*]] = sdy.reshard %[[BROADCAST]] <@mesh, [{"x"}, {}]> : tensor<16x16xf32>
// CHECK-NEXT: stablehlo.dot_general %[[BROADCAST]], %[[ROWS]]
func.func @value_and_reshard(
    %arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<16xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16xf32>) -> tensor<16x16xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {"x"}]> : tensor<16x16xf32>
  %3 = stablehlo.dot_general %2, %1, batching_dims = [1] x [0], contracting_dims = [0] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}

// A reshard that a change makes is visited, too: the region of all three would need more memory than
// before, that of the last two doesn't, nor does the first one then.
// CHECK-LABEL: func.func @visited_again
// CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{}]> : tensor<16xf32>
// CHECK-NEXT: %[[A:.*]] = stablehlo.reverse %[[RESHARD]], dims = [0] {{.*}}<@mesh, [{}]>
// CHECK-NEXT: %[[B:.*]] = stablehlo.reverse %[[A]], dims = [0] {{.*}}<@mesh, [{}]>
// CHECK-NEXT: %[[C:.*]] = stablehlo.reverse %[[B]], dims = [0] {{.*}}<@mesh, [{}]>
// CHECK-NEXT: return %[[C]]
// LOCAL-LABEL: func.func @visited_again
// LOCAL-COUNT-1: stablehlo.all_gather
// LOCAL-NOT: stablehlo.collective_permute
// LOCAL: return
func.func @visited_again(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<16xf32>
  %1 = stablehlo.reverse %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<16xf32>
  %2 = stablehlo.reverse %1, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<16xf32>
  %3 = sdy.reshard %2 <@mesh, [{}]> : tensor<16xf32>
  return %3 : tensor<16xf32>
}

// The second reshard starts from the first one, and costs nothing. Before the slice, a gather would
// send more than this one, but less than a gather and an exchange.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %arg0 {{.*}}<@mesh, [{"x"}, {}]>
// CHECK-NEXT: sdy.reshard %[[SLICE]] <@mesh, [{}, {}]>
// CHECK-NEXT: sdy.reshard %[[SLICE]] <@mesh, [{}, {"x"}]>
func.func @chain(%arg0: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x28xf32>, tensor<8x28xf32>) {
  %0 = stablehlo.slice %arg0 [0:8, 0:28] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x32xf32>) -> tensor<8x28xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x28xf32>
  %2 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x28xf32>
  return %1, %2 : tensor<8x28xf32>, tensor<8x28xf32>
}

// Three partial results that are added up are completed together. A reduce-scatter instead of their
// all-reduce saves less than the gather of the sum, of twice as many bytes, would cost.
// CHECK-LABEL: func.func @added_up
// CHECK-COUNT-2: stablehlo.add {{.*}}<@mesh, [{}, {}]>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.convert {{.*}}<@mesh, [{}, {}]>
// CHECK-NEXT: sdy.reshard %[[SUM]]
func.func @added_up(
    %arg0: tensor<64x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %arg1: tensor<64x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xbf16>
  %2 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xbf16>
  %4 = stablehlo.add %1, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<64x64xbf16>
  %s = stablehlo.dot_general %arg1, %arg1, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %t = sdy.all_reduce {"x"} %s out_sharding=<@mesh, [{}, {}]> : tensor<64x64xbf16>
  %u = stablehlo.add %4, %t {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<64x64xbf16>
  %5 = stablehlo.convert %u {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  %6 = sdy.reshard %5 <@mesh, [{"x"}, {}]> : tensor<64x64xf32>
  return %5, %6 : tensor<64x64xf32>, tensor<64x64xf32>
}
