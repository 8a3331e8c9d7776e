// RUN: sdy-opt %s -sdy-inline-small-functions -symbol-dce | FileCheck %s
// RUN: sdy-opt %s "-sdy-inline-small-functions=max-operations=1" -symbol-dce | FileCheck %s --check-prefix=SMALLER

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg0
// CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[NEGATE]], %[[NEGATE]]
// CHECK-NEXT: %[[NEGATE_1:.*]] = stablehlo.negate %[[ADD]]
// CHECK-NEXT: %[[ADD_1:.*]] = stablehlo.add %[[NEGATE_1]], %[[NEGATE_1]]
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %[[ADD_1]]
// CHECK-NEXT: %[[CALL:.*]] = call @kept(%[[ABS]])
// CHECK-NEXT: return %[[CALL]]
// SMALLER-LABEL: func.func @main
// SMALLER-NEXT: call @twice
// SMALLER-NEXT: call @twice
// SMALLER-NEXT: stablehlo.abs
func.func @main(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  %0 = call @twice(%arg0) : (tensor<7xf32>) -> tensor<7xf32>
  %1 = call @twice(%0) : (tensor<7xf32>) -> tensor<7xf32>
  %2 = call @once(%1) : (tensor<7xf32>) -> tensor<7xf32>
  %3 = call @kept(%2) : (tensor<7xf32>) -> tensor<7xf32>
  return %3 : tensor<7xf32>
}

// CHECK-NOT: @twice
// SMALLER: func.func private @twice
// SMALLER-NEXT: stablehlo.negate
func.func private @twice(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  %0 = call @once_more(%arg0) : (tensor<7xf32>) -> tensor<7xf32>
  %1 = stablehlo.add %0, %0 : tensor<7xf32>
  return %1 : tensor<7xf32>
}

// CHECK-NOT: @once
func.func private @once_more(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  %0 = stablehlo.negate %arg0 : tensor<7xf32>
  return %0 : tensor<7xf32>
}

func.func private @once(%arg0: tensor<7xf32>) -> tensor<7xf32> {
  %0 = stablehlo.abs %arg0 : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// CHECK: func.func private @kept
func.func private @kept(%arg0: tensor<7xf32>) -> tensor<7xf32> attributes {no_inline} {
  return %arg0 : tensor<7xf32>
}

// The reshard of an argument moves into the branch of the only call.
// CHECK-LABEL: func.func @branches
// CHECK-NEXT: "stablehlo.if"(%arg0)
// CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg1 <@mesh, [{}]> {sdy.at_call}
// CHECK-NEXT: %[[DOUBLE:.*]] = stablehlo.add %[[RESHARD]], %[[RESHARD]]
// CHECK-NEXT: stablehlo.return %[[DOUBLE]]
func.func @branches(%arg0: tensor<i1>,
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("value"))
    -> tensor<8xf32> {
  %0 = sdy.reshard %arg1 <@mesh, [{}]> : tensor<8xf32> loc("value")
  %1 = "stablehlo.if"(%arg0) ({
    %2 = call @double(%0) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }, {
    stablehlo.return %arg1 : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func private @double(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
    -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
