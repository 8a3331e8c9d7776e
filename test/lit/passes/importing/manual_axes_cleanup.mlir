// RUN: sdy-opt %s -split-input-file -sdy-manual-axes-cleanup | FileCheck %s

// Manual axes partly used.
// CHECK:      sdy.mesh @m = <["x"=8, "y"=8, "z"=2]>
// CHECK-NEXT: sdy.mesh @empty = <[]>
// CHECK-NEXT: func.func @main(%arg0: tensor<16x4xf32>, %arg1: tensor<f32>, %arg2: !stablehlo.token) -> tensor<16x4xf32> {
// CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@m, [{}, {}], replicated={"x", "y"}>, <@m, [], replicated={"x", "y"}>, <@m, []>] out_shardings=[<@m, [{"y":(2)2, "z"}, {}], replicated={"x", "y":(1)2, "y":(4)2}>] manual_axes={"x", "y"} (%arg3: tensor<16x4xf32>, %arg4: tensor<f32>, %arg5: !stablehlo.token) {
// CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %arg3 [0:8, 0:4] : (tensor<16x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: sdy.return %[[SLICE]] : tensor<8x4xf32>
// CHECK-NEXT: } : (tensor<16x4xf32>, tensor<f32>, !stablehlo.token) -> tensor<16x4xf32>
// CHECK-NEXT: return %[[MANUAL]] : tensor<16x4xf32>
// CHECK-NEXT: }
sdy.mesh @m = <["x"=8, "y"=8, "z"=2]>
sdy.mesh @empty = <[]>
func.func @main(%a: tensor<16x4xf32>, %s: tensor<f32>, %t: !stablehlo.token) -> tensor<16x4xf32> {
  %0 = sdy.manual_computation(%a, %s, %t)
      in_shardings=[<@empty, [{}, {}]>, <@m, []>, <@m, []>]
      out_shardings=[<@m, [{"y":(2)2, "z"}, {}], replicated={"x":(4)2}>]
      manual_axes={"y", "x"} (%x: tensor<16x4xf32>, %y: tensor<f32>, %z: !stablehlo.token) {
    %1 = stablehlo.slice %x [0:8, 0:4] : (tensor<16x4xf32>) -> tensor<8x4xf32>
    sdy.return %1 : tensor<8x4xf32>
  } : (tensor<16x4xf32>, tensor<f32>, !stablehlo.token) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}
