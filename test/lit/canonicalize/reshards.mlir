// A reshard of a reshard, and the labels of patterns.

// RUN: sdy-opt %s -canonicalize | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline='builtin.module(canonicalize{enable-patterns=sdy-reshard})' | FileCheck %s
// RUN: sdy-opt %s --pass-pipeline='builtin.module(canonicalize{disable-patterns=sdy-reshard})' | FileCheck %s --check-prefix=OFF
// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(canonicalize{enable-patterns=sdy-collective}))' | FileCheck %s --check-prefix=OFF

sdy.mesh @m = <["u"=4, "v"=2]>

// CHECK-LABEL: func.func @chain
// OFF-LABEL: func.func @chain
func.func @chain(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@m, [{"v"}, {"u"}]>
  // CHECK-NEXT: return %[[R]]
  // OFF-COUNT-3: sdy.reshard
  %0 = sdy.reshard %arg0 <@m, [{"u"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@m, [{}, {"u"}]> : tensor<8x8xf32>
  %2 = sdy.reshard %1 <@m, [{"v"}, {"u"}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @other_use
func.func @other_use(%arg0: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.reshard %arg0 <@m, [{"u"}, {}]>
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.reshard %[[FIRST]] <@m, [{}, {"u"}]>
  // CHECK-NEXT: return %[[FIRST]], %[[SECOND]]
  %0 = sdy.reshard %arg0 <@m, [{"u"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@m, [{}, {"u"}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @unused
func.func @unused(%arg0: tensor<8x8xf32>) {
  // CHECK-NEXT: return
  %0 = sdy.reshard %arg0 <@m, [{"u"}, {}]> : tensor<8x8xf32>
  return
}
