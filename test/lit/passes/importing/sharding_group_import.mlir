// RUN: sdy-opt %s -split-input-file -sdy-sharding-group-import | FileCheck %s

// Numbers of groups.
// CHECK:      func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) {
// CHECK-NEXT: sdy.sharding_group %arg0 group_id=1 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %arg2 group_id=0 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %arg1 group_id=1 : tensor<8xf32>
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: func.func @other(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) {
// CHECK-NEXT: sdy.sharding_group %arg0 group_id=2 : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %arg1 group_id=3 : tensor<8xf32>
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  sdy.sharding_group %a group_id=5 : tensor<8xf32>
  sdy.sharding_group %c group_id=7 : tensor<8xf32>
  sdy.sharding_group %b group_id=3 : tensor<8xf32>
  sdy.sharding_group %b group_id=5 : tensor<8xf32>
  return
}
func.func @other(%p: tensor<8xf32>, %q: tensor<8xf32>) {
  sdy.sharding_group %p group_id=40 : tensor<8xf32>
  sdy.sharding_group %p group_id=-9 : tensor<8xf32>
  sdy.sharding_group %q group_id=2 : tensor<8xf32>
  sdy.sharding_group %q group_id=2 : tensor<8xf32>
  return
}
