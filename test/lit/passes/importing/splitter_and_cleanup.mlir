// RUN: sdy-opt %s -split-input-file -sdy-constant-or-scalar-splitter -sdy-manual-axes-cleanup | FileCheck %s

// Computation of unused constants.
// CHECK:      sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main() {
// CHECK-NEXT: sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"y", "x"} () {
// CHECK-NEXT: sdy.return
// CHECK-NEXT: } : () -> ()
// CHECK-NEXT: return
// CHECK-NEXT: }
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main() {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"y", "x"} () {
    %0 = stablehlo.constant dense<2.0> : tensor<8xf32>
    sdy.return
  } : () -> ()
  return
}
