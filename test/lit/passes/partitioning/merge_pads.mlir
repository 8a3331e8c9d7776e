// RUN: sdy-opt %s --sdy-merge-pads | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: @shift
// CHECK-NEXT: %[[ZERO:.*]] = stablehlo.constant
// CHECK-NEXT: %[[SHIFTED:.*]] = stablehlo.pad %arg0, %[[ZERO]], low = [1, 0], high = [-1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT: return %[[SHIFTED]]
func.func @shift(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [1, 0], high = [0, 0], interior = [0, 0]
    : (tensor<8x4xf32>, tensor<f32>) -> tensor<9x4xf32>
  %1 = stablehlo.slice %0 [0:8, 0:4]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<9x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// All uses of a pad are slices; one of them is its operand.
// CHECK-LABEL: @windows
// CHECK: %[[LEFT:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [1], high = [-1], interior = [0]
// CHECK-NEXT: %[[RIGHT:.*]] = stablehlo.slice %arg0 [1:8]
// CHECK-NEXT: return %[[LEFT]], %arg0, %[[RIGHT]]
func.func @windows(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<7xf32>) {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.pad %a, %c, low = [1], high = [0], interior = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<9xf32>
  %1 = stablehlo.slice %0 [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : (tensor<9xf32>) -> tensor<8xf32>
  %2 = stablehlo.slice %0 [1:9] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : (tensor<9xf32>) -> tensor<8xf32>
  %3 = stablehlo.slice %0 [2:9] : (tensor<9xf32>) -> tensor<7xf32>
  return %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<7xf32>
}

// A chain, and interior padding of the first operation.
// CHECK-LABEL: @chain
// CHECK: %[[PAD:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [7], high = [-8], interior = [1]
// CHECK-NEXT: return %[[PAD]]
func.func @chain(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<14xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %same = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [0], high = [0], interior = [1]
    : (tensor<8xf32>, tensor<f32>) -> tensor<15xf32>
  %1 = stablehlo.slice %0 [0:7] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : (tensor<15xf32>) -> tensor<7xf32>
  %2 = stablehlo.pad %1, %same, low = [7], high = [0], interior = [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : (tensor<7xf32>, tensor<f32>) -> tensor<14xf32>
  return %2 : tensor<14xf32>
}

// The gradient of an interleaving takes every second element of a slice, and the first one of these.
// CHECK-LABEL: @strides
// CHECK-NEXT: %[[FIRST:.*]] = stablehlo.slice %arg0 [1:2]
// CHECK-NEXT: return %[[FIRST]]
func.func @strides(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<1xf32> {
  %0 = stablehlo.slice %a [1:8] : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.slice %0 [0:7:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : (tensor<7xf32>) -> tensor<4xf32>
  %2 = stablehlo.slice %1 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  return %2 : tensor<1xf32>
}

// The result has the type of the operand, and other elements.
// CHECK-LABEL: @interior
// CHECK: %[[PAD:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [0], high = [-7], interior = [1]
// CHECK-NEXT: return %[[PAD]]
func.func @interior(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [0], high = [0], interior = [1]
    : (tensor<8xf32>, tensor<f32>) -> tensor<15xf32>
  %1 = stablehlo.slice %0 [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : (tensor<15xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Elements would come back; other values are added; the first value is used elsewhere; only
// dimensions that aren't sharded change; every second element of a pad is
// taken.
// CHECK-LABEL: @stays
// CHECK: stablehlo.slice
// CHECK-NEXT: stablehlo.pad
// CHECK-NEXT: stablehlo.pad
// CHECK-NEXT: stablehlo.pad
// CHECK-NEXT: stablehlo.pad
// CHECK-NEXT: stablehlo.slice
// CHECK-NEXT: stablehlo.pad
// CHECK-NEXT: stablehlo.slice
// CHECK-NEXT: stablehlo.pad
// CHECK-NEXT: stablehlo.slice
func.func @stays(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32>, tensor<10x8xf32>, tensor<9x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.slice %a [1:8, 0:8] : (tensor<8x8xf32>) -> tensor<7x8xf32>
  %1 = stablehlo.pad %0, %zero, low = [1, 0], high = [0, 0], interior = [0, 0]
    : (tensor<7x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %2 = stablehlo.pad %a, %zero, low = [1, 0], high = [0, 0], interior = [0, 0]
    : (tensor<8x8xf32>, tensor<f32>) -> tensor<9x8xf32>
  %3 = stablehlo.pad %2, %one, low = [0, 0], high = [1, 0], interior = [0, 0]
    : (tensor<9x8xf32>, tensor<f32>) -> tensor<10x8xf32>
  %4 = stablehlo.pad %a, %zero, low = [0, 0], high = [1, 0], interior = [0, 0]
    : (tensor<8x8xf32>, tensor<f32>) -> tensor<9x8xf32>
  %5 = stablehlo.slice %4 [1:9, 0:8] : (tensor<9x8xf32>) -> tensor<8x8xf32>
  %6 = stablehlo.pad %a, %zero, low = [0, 1], high = [0, 0], interior = [0, 0]
    : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x9xf32>
  %7 = stablehlo.slice %6 [0:8, 0:8] : (tensor<8x9xf32>) -> tensor<8x8xf32>
  %8 = stablehlo.pad %a, %zero, low = [1, 0], high = [-1, 0], interior = [0, 0]
    : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %9 = stablehlo.slice %8 [0:8:2, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return %1, %3, %4, %5, %7, %9 : tensor<8x8xf32>, tensor<10x8xf32>, tensor<9x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}
