// RUN: sdy-opt %s -sdy-remove-sub-axes-in-input-output-shardings -split-input-file -verify-diagnostics | FileCheck %s

sdy.mesh @mesh = <["x"=8, "y"=2]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}p3, {"x":(4)2}], replicated={"x":(2)2}>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}]>})
func.func @main(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2, ?}p3, {"x":(4)2}], replicated={"x":(2)2}>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "y", ?}, {}]>}) {
  return %arg0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func private @f
// CHECK-SAME: [{"x":(1)2, ?}]
func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}]>}) {
  return
}

// -----

// expected-error@+1 {{a module with several functions must have one called 'main'}}
func.func @f() {
  return
}
func.func @g() {
  return
}
