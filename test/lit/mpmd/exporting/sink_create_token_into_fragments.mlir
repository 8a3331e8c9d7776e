// RUN: sdy-opt %s -mpmd-sink-create-token-into-fragments | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

// CHECK-LABEL: func.func @chain(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.create_token : !stablehlo.token
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.create_token : !stablehlo.token
// CHECK-NEXT: %[[V4:.*]]:2 = stablehlo.custom_call @cb(%[[V3]], %arg1) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
// CHECK-NEXT: mpmd.return %[[V4]]#1
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[V1]]) {call_counter = 1 : ui32} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V3:.*]] = stablehlo.create_token : !stablehlo.token
// CHECK-NEXT: %[[V4:.*]]:2 = stablehlo.custom_call @cb(%[[V3]], %arg1) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
// CHECK-NEXT: mpmd.return %[[V4]]#1
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %[[V2]]
func.func @chain(%a: !m1) -> !m1 attributes {topology = #topology} {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %t) (%x: tensor<4xf32>, %k: !stablehlo.token) {
    %1:2 = stablehlo.custom_call @cb(%k, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
    mpmd.return %1#1, %1#0 : tensor<4xf32>, !stablehlo.token
  } : (!m1, !stablehlo.token) -> (!m1, !stablehlo.token)
  %2:2 = mpmd.fragment<mesh="m1", origin=["g"]> (%0#0, %0#1) {call_counter = 1 : ui32} (%x: tensor<4xf32>, %k: !stablehlo.token) {
    %1:2 = stablehlo.custom_call @cb(%k, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
    mpmd.return %1#1, %1#0 : tensor<4xf32>, !stablehlo.token
  } : (!m1, !stablehlo.token) -> (!m1, !stablehlo.token)
  return %2#0 : !m1
}

// CHECK-LABEL: func.func @two(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.create_token : !stablehlo.token
// CHECK-NEXT: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V2:.*]] = stablehlo.create_token : !stablehlo.token
// CHECK-NEXT: %[[V3:.*]] = stablehlo.create_token : !stablehlo.token
// CHECK-NEXT: %[[V4:.*]]:2 = stablehlo.custom_call @cb(%[[V2]], %arg1) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
// CHECK-NEXT: %[[V5:.*]]:2 = stablehlo.custom_call @cb(%[[V3]], %arg1) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
// CHECK-NEXT: mpmd.return %[[V5]]#1
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
// CHECK-NEXT: return %[[V1]]
func.func @two(%a: !m1) -> !m1 attributes {topology = #topology} {
  %t = stablehlo.create_token : !stablehlo.token
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%t, %a, %t) (%k: !stablehlo.token, %x: tensor<4xf32>, %j: !stablehlo.token) {
    %1:2 = stablehlo.custom_call @cb(%k, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
    %2:2 = stablehlo.custom_call @cb(%j, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
    mpmd.return %2#1 : tensor<4xf32>
  } : (!stablehlo.token, !m1, !stablehlo.token) -> !m1
  return %0 : !m1
}
