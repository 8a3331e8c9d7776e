// Arguments of manual computations that nothing uses, and computations without values.

// RUN: sdy-opt %s -canonicalize | FileCheck %s

sdy.mesh @m = <["u"=4, "v"=2]>
sdy.mesh @one = <["a"=1, "b"=2]>

// CHECK-LABEL: func.func @unused_inputs
func.func @unused_inputs(%arg0: tensor<8xf32>, %arg1: tensor<16xi32>, %arg2: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.manual_computation(%arg2) in_shardings=[<@m, [{"u"}]>] out_shardings=[<@m, [{"u", "v"}]>] manual_axes={"u"} (%arg3: tensor<2xf32>) {
  // CHECK-NEXT:   %[[N:.*]] = stablehlo.negate %arg3 : tensor<2xf32>
  // CHECK-NEXT:   sdy.return %[[N]]
  // CHECK-NEXT: } {tag} : (tensor<8xf32>) -> tensor<8xf32>
  %0 = sdy.manual_computation(%arg0, %arg1, %arg2)
      in_shardings=[<@m, [{"v"}]>, <@m, [{"u", ?}]>, <@m, [{"u"}]>] out_shardings=[<@m, [{"u", "v"}]>]
      manual_axes={"u"} (%arg3: tensor<8xf32>, %arg4: tensor<4xi32>, %arg5: tensor<2xf32>) {
    %1 = stablehlo.negate %arg5 : tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } {tag} : (tensor<8xf32>, tensor<16xi32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The shardings have a free axis.
// CHECK-LABEL: func.func @one_device
func.func @one_device(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.manual_computation(%arg0) in_shardings=[<@one, [{"a", "b"}]>] out_shardings=[<@one, [{}]>] manual_axes={"a"}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@one, [{"a", "b"}]>] out_shardings=[<@one, [{}]>]
      manual_axes={"a"} (%arg1: tensor<8xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @no_values
func.func @no_values() {
  // CHECK-NEXT: stablehlo.custom_call @side
  // CHECK-NEXT: return
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"u"} () {
    sdy.return
  } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"u"} () {
    stablehlo.custom_call @side() {has_side_effect = true} : () -> ()
    sdy.return
  } : () -> ()
  return
}
