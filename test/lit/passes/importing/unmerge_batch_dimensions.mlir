// RUN: sdy-opt %s -split-input-file -sdy-unmerge-batch-dimensions | FileCheck %s

// Attention: the batch and the heads are merged for the first product, and split after it.
// CHECK:      func.func @main(%arg0: tensor<8x4x6x16xf32>, %arg1: tensor<8x4x6x16xf32>) -> tensor<8x4x6x6xf32> {
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<8x4x6x16xf32>, tensor<8x4x6x16xf32>) -> tensor<8x4x6x6xf32>
// CHECK-NEXT: return %[[DOT]] : tensor<8x4x6x6xf32>
// CHECK-NEXT: }
func.func @main(%q: tensor<8x4x6x16xf32>, %k: tensor<8x4x6x16xf32>) -> tensor<8x4x6x6xf32> {
  %0 = stablehlo.reshape %q : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
  %1 = stablehlo.reshape %k : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
  %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<32x6x16xf32>, tensor<32x6x16xf32>) -> tensor<32x6x6xf32>
  %3 = stablehlo.reshape %2 : (tensor<32x6x6xf32>) -> tensor<8x4x6x6xf32>
  return %3 : tensor<8x4x6x6xf32>
}

// -----

// Both products, with a transpose, a scale, a mask and a softmax on merged dimensions between them.
// CHECK:      func.func @main(%arg0: tensor<8x4x6x16xf32>, %arg1: tensor<8x4x6x16xf32>, %arg2: tensor<8x4x6x16xf32>, %arg3: tensor<6x6xf32>) -> tensor<8x6x64xbf16> {
// CHECK-NEXT: %[[CONSTANT:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[CONSTANT2:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[TRANSPOSE:.*]] = stablehlo.transpose %arg1, dims = [0, 1, 3, 2] : (tensor<8x4x6x16xf32>) -> tensor<8x4x16x6xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg0, %[[TRANSPOSE]], batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<8x4x6x16xf32>, tensor<8x4x16x6xf32>) -> tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[CONSTANT3:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = stablehlo.multiply %[[DOT]], %[[CONSTANT3]] : tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[BROADCAST:.*]] = stablehlo.broadcast_in_dim %arg3, dims = [2, 3] : (tensor<6x6xf32>) -> tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[MULTIPLY]], %[[BROADCAST]] : tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[REDUCE:.*]] = stablehlo.reduce(%[[ADD]] init: %[[CONSTANT]]) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x6x6xf32>, tensor<f32>) -> tensor<8x4x6xf32>
// CHECK-NEXT: %[[BROADCAST2:.*]] = stablehlo.broadcast_in_dim %[[REDUCE]], dims = [0, 1, 2] : (tensor<8x4x6xf32>) -> tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[SUBTRACT:.*]] = stablehlo.subtract %[[ADD]], %[[BROADCAST2]] : tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[EXPONENTIAL:.*]] = stablehlo.exponential %[[SUBTRACT]] : tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[REDUCE2:.*]] = stablehlo.reduce(%[[EXPONENTIAL]] init: %[[CONSTANT2]]) applies stablehlo.add across dimensions = [3] : (tensor<8x4x6x6xf32>, tensor<f32>) -> tensor<8x4x6xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %[[REDUCE2]] : (tensor<8x4x6xf32>) -> tensor<8x4x6x1xf32>
// CHECK-NEXT: %[[BROADCAST3:.*]] = stablehlo.broadcast_in_dim %[[RESHAPE]], dims = [0, 1, 2, 3] : (tensor<8x4x6x1xf32>) -> tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = stablehlo.divide %[[EXPONENTIAL]], %[[BROADCAST3]] : tensor<8x4x6x6xf32>
// CHECK-NEXT: %[[DOT2:.*]] = stablehlo.dot_general %[[DIVIDE]], %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<8x4x6x6xf32>, tensor<8x4x6x16xf32>) -> tensor<8x4x6x16xf32>
// CHECK-NEXT: %[[CONVERT:.*]] = stablehlo.convert %[[DOT2]] : (tensor<8x4x6x16xf32>) -> tensor<8x4x6x16xbf16>
// CHECK-NEXT: %[[TRANSPOSE2:.*]] = stablehlo.transpose %[[CONVERT]], dims = [0, 2, 1, 3] : (tensor<8x4x6x16xbf16>) -> tensor<8x6x4x16xbf16>
// CHECK-NEXT: %[[RESHAPE2:.*]] = stablehlo.reshape %[[TRANSPOSE2]] : (tensor<8x6x4x16xbf16>) -> tensor<8x6x64xbf16>
// CHECK-NEXT: return %[[RESHAPE2]] : tensor<8x6x64xbf16>
// CHECK-NEXT: }
func.func @main(%q: tensor<8x4x6x16xf32>, %k: tensor<8x4x6x16xf32>, %v: tensor<8x4x6x16xf32>, %m: tensor<6x6xf32>) -> tensor<8x6x64xbf16> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %scale = stablehlo.constant dense<0.25> : tensor<32x6x6xf32>
  %q1 = stablehlo.reshape %q : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
  %k1 = stablehlo.reshape %k : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
  %v1 = stablehlo.reshape %v : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
  %k2 = stablehlo.transpose %k1, dims = [0, 2, 1] : (tensor<32x6x16xf32>) -> tensor<32x16x6xf32>
  %0 = stablehlo.dot_general %q1, %k2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<32x6x16xf32>, tensor<32x16x6xf32>) -> tensor<32x6x6xf32>
  %1 = stablehlo.multiply %0, %scale : tensor<32x6x6xf32>
  %mask = stablehlo.broadcast_in_dim %m, dims = [1, 2] : (tensor<6x6xf32>) -> tensor<32x6x6xf32>
  %2 = stablehlo.add %1, %mask : tensor<32x6x6xf32>
  %3 = stablehlo.reduce(%2 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<32x6x6xf32>, tensor<f32>) -> tensor<32x6xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<32x6xf32>) -> tensor<32x6x6xf32>
  %5 = stablehlo.subtract %2, %4 : tensor<32x6x6xf32>
  %6 = stablehlo.exponential %5 : tensor<32x6x6xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<32x6x6xf32>, tensor<f32>) -> tensor<32x6xf32>
  %8 = stablehlo.reshape %7 : (tensor<32x6xf32>) -> tensor<32x6x1xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<32x6x1xf32>) -> tensor<32x6x6xf32>
  %10 = stablehlo.divide %6, %9 : tensor<32x6x6xf32>
  %11 = stablehlo.dot_general %10, %v1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<32x6x6xf32>, tensor<32x6x16xf32>) -> tensor<32x6x16xf32>
  %12 = stablehlo.convert %11 : (tensor<32x6x16xf32>) -> tensor<32x6x16xbf16>
  %13 = stablehlo.reshape %12 : (tensor<32x6x16xbf16>) -> tensor<8x4x6x16xbf16>
  %14 = stablehlo.transpose %13, dims = [0, 2, 1, 3] : (tensor<8x4x6x16xbf16>) -> tensor<8x6x4x16xbf16>
  %15 = stablehlo.reshape %14 : (tensor<8x6x4x16xbf16>) -> tensor<8x6x64xbf16>
  return %15 : tensor<8x6x64xbf16>
}

// -----

// Grouped heads: only the split that all operands and the result have is restored.
// CHECK:      func.func @main(%arg0: tensor<8x4x6x16xf32>, %arg1: tensor<8x2x6x16xf32>) -> tensor<8x4x6x6xf32> {
// CHECK-NEXT: %[[BROADCAST:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 3, 4] : (tensor<8x2x6x16xf32>) -> tensor<8x2x2x6x16xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %[[BROADCAST]] : (tensor<8x2x2x6x16xf32>) -> tensor<8x4x6x16xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg0, %[[RESHAPE]], batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<8x4x6x16xf32>, tensor<8x4x6x16xf32>) -> tensor<8x4x6x6xf32>
// CHECK-NEXT: return %[[DOT]] : tensor<8x4x6x6xf32>
// CHECK-NEXT: }
func.func @main(%q: tensor<8x4x6x16xf32>, %k: tensor<8x2x6x16xf32>) -> tensor<8x4x6x6xf32> {
  %0 = stablehlo.reshape %q : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
  %1 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3, 4] : (tensor<8x2x6x16xf32>) -> tensor<8x2x2x6x16xf32>
  %2 = stablehlo.reshape %1 : (tensor<8x2x2x6x16xf32>) -> tensor<32x6x16xf32>
  %3 = stablehlo.dot_general %0, %2, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<32x6x16xf32>, tensor<32x6x16xf32>) -> tensor<32x6x6xf32>
  %4 = stablehlo.reshape %3 : (tensor<32x6x6xf32>) -> tensor<8x4x6x6xf32>
  return %4 : tensor<8x4x6x6xf32>
}

// -----

// Rows of a linear layer, and of the gradient of its weight, which contracts them.
// CHECK:      func.func @main(%arg0: tensor<8x6x64xf32>, %arg1: tensor<64x32xf32>, %arg2: tensor<8x6x32xf32>) -> (tensor<8x6x32xf32>, tensor<64x32xf32>) {
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<8x6x64xf32>, tensor<64x32xf32>) -> tensor<8x6x32xf32>
// CHECK-NEXT: %[[DOT2:.*]] = stablehlo.dot_general %arg0, %arg2, contracting_dims = [0, 1] x [0, 1] : (tensor<8x6x64xf32>, tensor<8x6x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: return %[[DOT]], %[[DOT2]] : tensor<8x6x32xf32>, tensor<64x32xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<8x6x64xf32>, %w: tensor<64x32xf32>, %g: tensor<8x6x32xf32>) -> (tensor<8x6x32xf32>, tensor<64x32xf32>) {
  %0 = stablehlo.reshape %x : (tensor<8x6x64xf32>) -> tensor<48x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<48x64xf32>, tensor<64x32xf32>) -> tensor<48x32xf32>
  %2 = stablehlo.reshape %1 : (tensor<48x32xf32>) -> tensor<8x6x32xf32>
  %3 = stablehlo.reshape %g : (tensor<8x6x32xf32>) -> tensor<48x32xf32>
  %4 = stablehlo.dot_general %0, %3, contracting_dims = [0] x [0] : (tensor<48x64xf32>, tensor<48x32xf32>) -> tensor<64x32xf32>
  return %2, %4 : tensor<8x6x32xf32>, tensor<64x32xf32>
}

// -----

// Batch and heads that are merged in the middle, as by nn.MultiheadAttention.
// CHECK:      func.func @main(%arg0: tensor<6x8x64xf32>, %arg1: tensor<8x4x16x5xf32>) -> tensor<8x4x6x5xf32> {
// CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %arg0 : (tensor<6x8x64xf32>) -> tensor<6x8x4x16xf32>
// CHECK-NEXT: %[[TRANSPOSE:.*]] = stablehlo.transpose %[[RESHAPE]], dims = [1, 2, 0, 3] : (tensor<6x8x4x16xf32>) -> tensor<8x4x6x16xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %[[TRANSPOSE]], %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<8x4x6x16xf32>, tensor<8x4x16x5xf32>) -> tensor<8x4x6x5xf32>
// CHECK-NEXT: return %[[DOT]] : tensor<8x4x6x5xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<6x8x64xf32>, %a: tensor<8x4x16x5xf32>) -> tensor<8x4x6x5xf32> {
  %0 = stablehlo.reshape %x : (tensor<6x8x64xf32>) -> tensor<6x32x16xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<6x32x16xf32>) -> tensor<32x6x16xf32>
  %2 = stablehlo.reshape %a : (tensor<8x4x16x5xf32>) -> tensor<32x16x5xf32>
  %3 = stablehlo.dot_general %1, %2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<32x6x16xf32>, tensor<32x16x5xf32>) -> tensor<32x6x5xf32>
  %4 = stablehlo.reshape %3 : (tensor<32x6x5xf32>) -> tensor<8x4x6x5xf32>
  return %4 : tensor<8x4x6x5xf32>
}

// -----

// A value that is also used merged is merged for that use: here it is sorted along its rows.
// CHECK:      func.func @main(%arg0: tensor<8x6x64xf32>, %arg1: tensor<64x32xf32>) -> (tensor<8x6x32xf32>, tensor<48x32xf32>) {
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<8x6x64xf32>, tensor<64x32xf32>) -> tensor<8x6x32xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %[[DOT]] : (tensor<8x6x32xf32>) -> tensor<48x32xf32>
// CHECK-NEXT: %[[SORT:.*]] = "stablehlo.sort"(%[[RESHAPE]]) <{dimension = 0 : i64}> ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT: %[[COMPARE:.*]] = stablehlo.compare LT, %[[A]], %[[B]] : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: stablehlo.return %[[COMPARE]] : tensor<i1>
// CHECK-NEXT: }) : (tensor<48x32xf32>) -> tensor<48x32xf32>
// CHECK-NEXT: return %[[DOT]], %[[SORT]] : tensor<8x6x32xf32>, tensor<48x32xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<8x6x64xf32>, %w: tensor<64x32xf32>) -> (tensor<8x6x32xf32>, tensor<48x32xf32>) {
  %0 = stablehlo.reshape %x : (tensor<8x6x64xf32>) -> tensor<48x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<48x64xf32>, tensor<64x32xf32>) -> tensor<48x32xf32>
  %2 = stablehlo.reshape %1 : (tensor<48x32xf32>) -> tensor<8x6x32xf32>
  %3 = "stablehlo.sort"(%1) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<48x32xf32>) -> tensor<48x32xf32>
  return %2, %3 : tensor<8x6x32xf32>, tensor<48x32xf32>
}

// -----

// Unchanged: the argument is merged already, the result is split elsewhere, or not at all.
// CHECK:      func.func @main(%arg0: tensor<8x6x64xf32>, %arg1: tensor<48x64xf32>, %arg2: tensor<64x32xf32>) -> (tensor<8x6x32xf32>, tensor<6x8x32xf32>, tensor<48x32xf32>) {
// CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %arg0 : (tensor<8x6x64xf32>) -> tensor<48x64xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg1, %arg2, contracting_dims = [1] x [0] : (tensor<48x64xf32>, tensor<64x32xf32>) -> tensor<48x32xf32>
// CHECK-NEXT: %[[RESHAPE2:.*]] = stablehlo.reshape %[[DOT]] : (tensor<48x32xf32>) -> tensor<8x6x32xf32>
// CHECK-NEXT: %[[DOT2:.*]] = stablehlo.dot_general %[[RESHAPE]], %arg2, contracting_dims = [1] x [0] : (tensor<48x64xf32>, tensor<64x32xf32>) -> tensor<48x32xf32>
// CHECK-NEXT: %[[RESHAPE3:.*]] = stablehlo.reshape %[[DOT2]] : (tensor<48x32xf32>) -> tensor<6x8x32xf32>
// CHECK-NEXT: return %[[RESHAPE2]], %[[RESHAPE3]], %[[DOT2]] : tensor<8x6x32xf32>, tensor<6x8x32xf32>, tensor<48x32xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<8x6x64xf32>, %y: tensor<48x64xf32>, %w: tensor<64x32xf32>) -> (tensor<8x6x32xf32>, tensor<6x8x32xf32>, tensor<48x32xf32>) {
  %0 = stablehlo.reshape %x : (tensor<8x6x64xf32>) -> tensor<48x64xf32>
  %1 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<48x64xf32>, tensor<64x32xf32>) -> tensor<48x32xf32>
  %2 = stablehlo.reshape %1 : (tensor<48x32xf32>) -> tensor<8x6x32xf32>
  %3 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<48x64xf32>, tensor<64x32xf32>) -> tensor<48x32xf32>
  %4 = stablehlo.reshape %3 : (tensor<48x32xf32>) -> tensor<6x8x32xf32>
  return %2, %4, %3 : tensor<8x6x32xf32>, tensor<6x8x32xf32>, tensor<48x32xf32>
}

// -----

// Unchanged: the merged value has a sharding.
// CHECK:      func.func @main(%arg0: tensor<8x6x64xf32>, %arg1: tensor<64x32xf32>) -> tensor<8x6x32xf32> {
// CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<8x6x64xf32>) -> tensor<48x64xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %[[RESHAPE]], %arg1, contracting_dims = [1] x [0] : (tensor<48x64xf32>, tensor<64x32xf32>) -> tensor<48x32xf32>
// CHECK-NEXT: %[[RESHAPE2:.*]] = stablehlo.reshape %[[DOT]] : (tensor<48x32xf32>) -> tensor<8x6x32xf32>
// CHECK-NEXT: return %[[RESHAPE2]] : tensor<8x6x32xf32>
// CHECK-NEXT: }
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<8x6x64xf32>, %w: tensor<64x32xf32>) -> tensor<8x6x32xf32> {
  %0 = stablehlo.reshape %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<8x6x64xf32>) -> tensor<48x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<48x64xf32>, tensor<64x32xf32>) -> tensor<48x32xf32>
  %2 = stablehlo.reshape %1 : (tensor<48x32xf32>) -> tensor<8x6x32xf32>
  return %2 : tensor<8x6x32xf32>
}

// -----

// A weight that is broadcast to the batch.
// CHECK:      func.func @main(%arg0: tensor<8x6x16xf32>, %arg1: tensor<5x16xf32>) -> tensor<8x6x5xf32> {
// CHECK-NEXT: %[[TRANSPOSE:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg0, %[[TRANSPOSE]], contracting_dims = [2] x [0] : (tensor<8x6x16xf32>, tensor<16x5xf32>) -> tensor<8x6x5xf32>
// CHECK-NEXT: return %[[DOT]] : tensor<8x6x5xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<8x6x16xf32>, %w: tensor<5x16xf32>) -> tensor<8x6x5xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<5x16xf32>) -> tensor<16x5xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<16x5xf32>) -> tensor<8x16x5xf32>
  %2 = stablehlo.dot_general %x, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x6x16xf32>, tensor<8x16x5xf32>) -> tensor<8x6x5xf32>
  return %2 : tensor<8x6x5xf32>
}

// -----

// A weight that is broadcast to batch and heads, which are merged, and converted.
// CHECK:      func.func @main(%arg0: tensor<8x4x6x16xf32>, %arg1: tensor<16x5xbf16>) -> tensor<8x4x6x5xf32> {
// CHECK-NEXT: %[[CONVERT:.*]] = stablehlo.convert %arg1 : (tensor<16x5xbf16>) -> tensor<16x5xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg0, %[[CONVERT]], contracting_dims = [3] x [0] : (tensor<8x4x6x16xf32>, tensor<16x5xf32>) -> tensor<8x4x6x5xf32>
// CHECK-NEXT: return %[[DOT]] : tensor<8x4x6x5xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<8x4x6x16xf32>, %w: tensor<16x5xbf16>) -> tensor<8x4x6x5xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [2, 3] : (tensor<16x5xbf16>) -> tensor<8x4x16x5xbf16>
  %1 = stablehlo.convert %0 : (tensor<8x4x16x5xbf16>) -> tensor<8x4x16x5xf32>
  %2 = stablehlo.reshape %1 : (tensor<8x4x16x5xf32>) -> tensor<32x16x5xf32>
  %3 = stablehlo.reshape %x : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
  %4 = stablehlo.dot_general %3, %2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<32x6x16xf32>, tensor<32x16x5xf32>) -> tensor<32x6x5xf32>
  %5 = stablehlo.reshape %4 : (tensor<32x6x5xf32>) -> tensor<8x4x6x5xf32>
  return %5 : tensor<8x4x6x5xf32>
}

// -----

// The left operand is broadcast, of which one dimension of size 1 is expanded.
// CHECK:      func.func @main(%arg0: tensor<8x16x5xf32>, %arg1: tensor<1x6x16xf32>) -> tensor<8x6x5xf32> {
// CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %arg1 : (tensor<1x6x16xf32>) -> tensor<6x16xf32>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %[[RESHAPE]], %arg0, contracting_dims = [1] x [1] : (tensor<6x16xf32>, tensor<8x16x5xf32>) -> tensor<6x8x5xf32>
// CHECK-NEXT: %[[TRANSPOSE:.*]] = stablehlo.transpose %[[DOT]], dims = [1, 0, 2] : (tensor<6x8x5xf32>) -> tensor<8x6x5xf32>
// CHECK-NEXT: return %[[TRANSPOSE]] : tensor<8x6x5xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<8x16x5xf32>, %w: tensor<1x6x16xf32>) -> tensor<8x6x5xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [0, 1, 2] : (tensor<1x6x16xf32>) -> tensor<8x6x16xf32>
  %1 = stablehlo.dot_general %0, %x, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x6x16xf32>, tensor<8x16x5xf32>) -> tensor<8x6x5xf32>
  return %1 : tensor<8x6x5xf32>
}

// -----

// Both operands are broadcast.
// CHECK:      func.func @main(%arg0: tensor<16x5xf32>, %arg1: tensor<6x16xf32>) -> tensor<8x6x5xf32> {
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] : (tensor<6x16xf32>, tensor<16x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: %[[BROADCAST:.*]] = stablehlo.broadcast_in_dim %[[DOT]], dims = [1, 2] : (tensor<6x5xf32>) -> tensor<8x6x5xf32>
// CHECK-NEXT: return %[[BROADCAST]] : tensor<8x6x5xf32>
// CHECK-NEXT: }
func.func @main(%x: tensor<16x5xf32>, %w: tensor<6x16xf32>) -> tensor<8x6x5xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<6x16xf32>) -> tensor<8x6x16xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<16x5xf32>) -> tensor<8x16x5xf32>
  %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x6x16xf32>, tensor<8x16x5xf32>) -> tensor<8x6x5xf32>
  return %2 : tensor<8x6x5xf32>
}
