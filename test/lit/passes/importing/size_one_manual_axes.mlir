// RUN: sdy-opt %s -sdy-remove-size-one-axes -sdy-manual-axes-cleanup | FileCheck %s

// A manual axis of size 1 is taken out of the shardings, and comes back as a replicated one.

sdy.mesh @mesh = <["a"=1, "b"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK:      sdy.manual_computation(%arg0)
  // CHECK-SAME: in_shardings=[<@mesh, [{"b"}], replicated={"a"}>]
  // CHECK-SAME: out_shardings=[<@mesh, [{"b"}], replicated={"a"}>]
  // CHECK-SAME: manual_axes={"a", "b"}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"a", "b"}]>]
      out_shardings=[<@mesh, [{"b"}], replicated={"a"}>] manual_axes={"a", "b"} (%x: tensor<4xf32>) {
    sdy.return %x : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
