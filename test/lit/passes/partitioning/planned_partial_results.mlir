// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s --sdy-insert-explicit-reshards="enable-full-version=true compatibility=cheapest" | FileCheck %s
// RUN: sdy-opt %s --sdy-insert-explicit-reshards | FileCheck %s --check-prefix=PARTLY

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: @left
// CHECK: %[[DOT:.*]] = stablehlo.dot_general
// CHECK-SAME: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
// CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %[[DOT]] [0:4, 0:8]
// CHECK-SAME: unreduced={"x"}
// CHECK-NEXT: %[[DONE:.*]] = sdy.all_reduce {"x"} %[[SLICE]]
// CHECK-NEXT: sdy.reshard %[[DONE]] <@mesh, [{"x"}, {}]>
func.func @left(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.partial_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.slice %0 [0:4, 0:8] {sdy.partial_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// The attribute doesn't fit the result, and has no effect.
// CHECK-LABEL: @other_rank
// CHECK: %[[DOT:.*]] = stablehlo.dot_general
// CHECK-SAME: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK-NEXT: sdy.all_reduce {"x"} %[[DOT]]
func.func @other_rank(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.partial_sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The user isn't linear.
// CHECK-LABEL: @other_user
// CHECK: %[[DOT:.*]] = stablehlo.dot_general
// CHECK-SAME: unreduced={"x"}
// CHECK-NEXT: %[[DONE:.*]] = sdy.all_reduce {"x"} %[[DOT]]
// CHECK: stablehlo.tanh
func.func @other_user(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.partial_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// The partial version doesn't reshard the operands of such a concatenation.
// CHECK-LABEL: @chunks
// CHECK: %[[BOTH:.*]] = stablehlo.concatenate
// CHECK-SAME: unreduced={"x"}
// CHECK-NEXT: %[[DONE:.*]] = sdy.all_reduce {"x"} %[[BOTH]]
// CHECK-NEXT: sdy.reshard %[[DONE]] <@mesh, [{"x"}, {}]>
// PARTLY-LABEL: @chunks
// PARTLY-NOT: sdy.reshard
func.func @chunks(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.partial_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.concatenate %0, %0, dim = 1 {sdy.partial_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// The sum takes the second product as it is, although its first operand is completed before.
// CHECK-LABEL: @one_of_two
// CHECK: %[[FIRST:.*]] = stablehlo.dot_general
// CHECK-NEXT: %[[DONE:.*]] = sdy.all_reduce {"x"} %[[FIRST]]
// CHECK: %[[SECOND:.*]] = stablehlo.dot_general
// CHECK-NOT: sdy.all_reduce {"y"} %[[SECOND]]
// CHECK: %[[SUM:.*]] = stablehlo.add %{{.*}}, %[[SECOND]]
// CHECK-SAME: unreduced={"y"}
func.func @one_of_two(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg2: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %arg3: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.partial_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0] {sdy.partial_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 {sdy.partial_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
