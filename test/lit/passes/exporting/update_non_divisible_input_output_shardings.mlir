// RUN: sdy-opt %s -sdy-update-non-divisible-input-output-shardings | FileCheck %s

sdy.mesh @mesh = <["p"=6, "q"=10]>
sdy.mesh @four = <["a"=4, "b"=4, "c"=4]>
sdy.mesh @one = <[], device_ids=[3]>

// A dimension that changes loses its priority, one that doesn't keeps it. Closedness stays.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<15xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p":(1)3}]>}
// CHECK-SAME: %arg1: tensor<30xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p", "q":(1)5, ?}]>}
// CHECK-SAME: %arg2: tensor<7x60xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"q"}p4], replicated={"p":(3)2}>}
// CHECK-SAME: %arg3: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p":(3)2}]>}
// CHECK-SAME: %arg4: tensor<7xf32> {sdy.sharding = #sdy.sharding<@one, []>}
// CHECK-SAME: %arg5: tensor<?x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p"}, {"q"}]>}
// CHECK-SAME: -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}, tensor<9xf32>)
func.func @main(
    %arg0: tensor<15xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p", "q"}p1]>},
    %arg1: tensor<30xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p", "q", ?}p1]>},
    %arg2: tensor<7x60xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p":(1)3}, {"q"}p4], replicated={"p":(3)2}>},
    %arg3: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p":(3)2, "q":(1)5}]>},
    %arg4: tensor<7xf32> {sdy.sharding = #sdy.sharding<@one, []>},
    %arg5: tensor<?x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p"}, {"q"}]>})
    -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"q", ?}]>}, tensor<9xf32>) {
  // CHECK: call @f(%arg4) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"p":(1)3}]>]>}
  %0:2 = call @f(%arg4) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"p"}]>, <@mesh, [{"p"}]>]>}
      : (tensor<7xf32>) -> (tensor<7xf32>, tensor<9xf32>)
  // Other operations are left alone.
  // CHECK: stablehlo.negate %[[VALUE:[0-9]+]]#0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"q"}]>]>}
  %1 = stablehlo.negate %0#0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"q"}]>]>} : tensor<7xf32>
  return %1, %0#1 : tensor<7xf32>, tensor<9xf32>
}

// CHECK-LABEL: func.func private @f
// CHECK-SAME: -> (tensor<7xf32>, tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p":(1)3}]>})
func.func private @f(tensor<7xf32>) -> (tensor<7xf32>, tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"p"}]>})

// The local shape is what the free axes of an operand must divide.
// CHECK-LABEL: func.func private @manual
func.func private @manual(%arg0: tensor<40xf32>) -> tensor<40xf32> {
  // CHECK-NEXT: in_shardings=[<@four, [{"a", "b":(1)2}]>] out_shardings=[<@four, [{"a", "b":(1)2}]>]
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@four, [{"a", "b", "c"}]>]
      out_shardings=[<@four, [{"a", "b", "c"}]>] manual_axes={"a"} (%arg1: tensor<10xf32>) {
    sdy.return %arg1 : tensor<10xf32>
  } : (tensor<40xf32>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// CHECK: module @inner
module @inner {
  sdy.mesh @mesh = <["other"=4]>
  // CHECK: func.func @f(%arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"other"}]>})
  func.func @f(%arg0: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"other"}]>}) {
    return
  }
}
