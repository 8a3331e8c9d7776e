// What is sdy's comes back from an artifact as it was, for the oldest version that can hold it, too.
// RUN: sdy-translate %s > %t.text
// RUN: sdy-translate %s --to=portable --target-version=1.15.0 -o %t.portable
// RUN: sdy-translate %t.portable | diff %t.text -
// RUN: sdy-translate %s --to=portable --target-version=minimum -o %t.portable
// RUN: sdy-translate %t.portable | diff %t.text -
// RUN: sdy-translate %s --to=bytecode -o %t.bytecode
// RUN: sdy-translate < %t.bytecode | diff %t.text -
// RUN: sdy-opt %t.portable | diff %t.text -
// RUN: sdy-opt %t.bytecode | diff %t.text -

// RUN: sdy-opt %t.portable --sdy-close-shardings | FileCheck %s
// CHECK: @main(%arg0: tensor<16x8xf32> {{.*}}sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>

sdy.mesh @mesh = <["a"=2, "b"=4]>
sdy.mesh @"of-words" = <["c"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>

func.func @main(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>, mhlo.frontend_attributes = {own = "kept"}}, %y: tensor<8xf32>)
    -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@"of-words", [{"c"}, {?}p2]>}, tensor<8xf32>) {
  %0 = sdy.sharding_constraint %x <@mesh, [{"a", "b":(1)2}, {?}], replicated={"b":(2)2}> : tensor<16x8xf32>
  sdy.sharding_group %0 group_id=3 : tensor<16x8xf32>
  %1 = stablehlo.add %0, %0 {mhlo.frontend_attributes = {own = "kept"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {?}p1]>]>} : tensor<16x8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD {mhlo.frontend_attributes = {own = "kept"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {?}]>]>} : tensor<16x8xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%arg0: tensor<8x8xf32>) {
    %6 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"b"}, {}]>] out_shardings=[<@mesh, [{"b"}, {}]>] manual_axes={"b"} (%arg1: tensor<2x8xf32>) {
      %7 = stablehlo.negate %arg1 : tensor<2x8xf32>
      sdy.return %7 : tensor<2x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %6 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %4 = stablehlo.custom_call @rule(%y) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  %5 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} () {
    %6 = stablehlo.constant dense<1.0> : tensor<4xf32>
    sdy.return %6 : tensor<4xf32>
  } : () -> tensor<8xf32>
  return %3, %5 : tensor<16x8xf32>, tensor<8xf32>
}
