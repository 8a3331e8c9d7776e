// RUN: sdy-opt %s -sdy-aggressive-propagate --load-rules=%S/Inputs/rules.py | FileCheck %s
// RUN: sdy-opt %s -sdy-aggressive-propagate='keep-sharding-rules=true' --load-rules=%S/Inputs/rules.py | FileCheck %s --check-prefix=KEPT
// RUN: sdy-opt %s -sdy-aggressive-propagate 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not sdy-opt %s -sdy-aggressive-propagate --strict-rules 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: sdy-opt %s -sdy-aggressive-propagate='compatible=true' --load-rules=%S/Inputs/rules.py 2>&1 | FileCheck %s --check-prefix=COMPATIBLE

sdy.mesh @mesh = <["a"=2]>

// UNKNOWN: warning: custom call @my_product is unknown to SDY sharding rule registry
// STRICT: error: custom call @my_product is unknown to SDY sharding rule registry

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<4x6xf32>)
    -> tensor<8x6xf32> {
  // CHECK: stablehlo.custom_call @my_product(%arg0, %arg1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>}
  // KEPT: sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=6, k=4} reduction={k}>
  // UNKNOWN: stablehlo.custom_call @my_product(%arg0, %arg1) :
  %0 = stablehlo.custom_call @my_product(%arg0, %arg1) : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  // C++ Shardy has no rules for operations of CHLO.
  // CHECK: chlo.erf %[[VALUE:[0-9]+]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>}
  // COMPATIBLE: chlo.erf %[[VALUE:[0-9]+]] : tensor<8x6xf32>
  %1 = chlo.erf %0 : tensor<8x6xf32> -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
