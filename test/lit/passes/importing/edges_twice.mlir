// Owners that have an edge don't get another one. C++ Shardy puts edges on edges.

// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-add-data-flow-edges | FileCheck %s
// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-import-func-calls | FileCheck %s

// CHECK:      func.func @main
// CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.named_computation<"f">(%arg0) (%arg1: tensor<8xf32>) {
// CHECK-NEXT:   %[[EDGE:.*]] = sdy.data_flow_edge %arg1 : tensor<8xf32>
// CHECK-NEXT:   sdy.return %[[EDGE]] : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[EDGE_1:.*]] = sdy.data_flow_edge %[[COMPUTATION]] : tensor<8xf32>
// CHECK-NEXT: return %[[EDGE_1]] : tensor<8xf32>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"f">(%a) (%x: tensor<8xf32>) {
    sdy.return %x : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
