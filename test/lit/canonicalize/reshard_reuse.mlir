// A reshard to where its value has been brought before.

// RUN: sdy-opt %s -canonicalize | FileCheck %s

sdy.mesh @m = <["u"=4, "v"=2]>

// CHECK-LABEL: func.func @same_value
func.func @same_value(%arg0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@m, [{"u"}, {}]>
  // CHECK-NEXT: return %[[R]], %[[R]]
  %0 = sdy.reshard %arg0 <@m, [{"u"}, {}]> : tensor<4x8xf32>
  %1 = sdy.reshard %arg0 <@m, [{"u", ?}p1, {?}]> : tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @through_a_reshape
func.func @through_a_reshape(%arg0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<32xf32>) {
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@m, [{"u"}, {}]>
  // CHECK-NEXT: %[[FLAT:.*]] = stablehlo.reshape %[[R]] {tag}
  // CHECK-NEXT: return %[[R]], %[[FLAT]]
  %0 = sdy.reshard %arg0 <@m, [{"u"}, {}]> : tensor<4x8xf32>
  %1 = stablehlo.reshape %arg0 {tag} : (tensor<4x8xf32>) -> tensor<32xf32>
  %2 = sdy.reshard %1 <@m, [{"u"}]> : tensor<32xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<32xf32>
}

// CHECK-LABEL: func.func @through_a_transpose
func.func @through_a_transpose(%arg0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>) {
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@m, [{"u"}, {}]>
  // CHECK-NEXT: %[[TURNED:.*]] = stablehlo.transpose %[[R]], dims = [1, 0]
  // CHECK-NEXT: return %[[R]], %[[TURNED]]
  %0 = sdy.reshard %arg0 <@m, [{"u"}, {}]> : tensor<4x8xf32>
  %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = sdy.reshard %1 <@m, [{}, {"u"}]> : tensor<8x4xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: func.func @of_a_reshape
func.func @of_a_reshape(%arg0: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[FLAT:.*]] = stablehlo.reshape %arg0
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %[[FLAT]] <@m, [{"u"}]>
  // CHECK-NEXT: %[[BACK:.*]] = stablehlo.reshape %[[R]] : (tensor<32xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: return %[[R]], %[[BACK]]
  %0 = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = sdy.reshard %0 <@m, [{"u"}]> : tensor<32xf32>
  %2 = sdy.reshard %arg0 <@m, [{"u"}, {}]> : tensor<4x8xf32>
  return %1, %2 : tensor<32xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @elsewhere
func.func @elsewhere(%arg0: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-COUNT-4: sdy.reshard
  %0 = sdy.reshard %arg0 <@m, [{"u"}, {}]> : tensor<4x8xf32>
  %1 = sdy.reshard %arg0 <@m, [{}, {"u"}]> : tensor<4x8xf32>
  %2 = sdy.reshard %arg0 <@m, [{"u"}, {}], replicated={"v"}> : tensor<4x8xf32>
  %3 = sdy.reshard %arg0 <@m, [{"u"}, {}], unreduced={"v"}> : tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
