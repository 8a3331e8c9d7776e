// RUN: sdy-opt %s -mpmd-delay-transfers-from-cpu | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!cpu = !mpmd.mesh_tensor<"m1/cpu", tensor<4x8xf32>>
!host = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m1/cpu" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">, %arg2: !mpmd.mesh_tensor<"m1/cpu", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg3: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg3
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V2:.*]] = mpmd.transfer %arg2 : (!mpmd.mesh_tensor<"m1/cpu", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V3:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[V2]], %[[V0]]) (%arg3: tensor<4x8xf32>, %arg4: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.add %arg3, %arg4
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V4:.*]] = mpmd.transfer %arg1 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: %[[V5:.*]] = mpmd.fragment<mesh="m1", origin=["h"]> (%[[V4]], %[[V3]]) (%arg3: tensor<4x8xf32>, %arg4: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1]] = stablehlo.add %arg3, %arg4
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V5]]
func.func @main(%a: !m1, %b: !host, %c: !cpu) -> !m1 attributes {topology = #topology} {
  %h = mpmd.transfer %b : (!host) -> !m1
  %k = mpmd.transfer %c : (!cpu) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x1: tensor<4x8xf32>) {
    %t = stablehlo.tanh %x1 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["g"]> (%k, %1) (%x1: tensor<4x8xf32>, %x2: tensor<4x8xf32>) {
    %t = stablehlo.add %x1, %x2 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  %3 = mpmd.fragment<mesh="m1", origin=["h"]> (%h, %2) (%x1: tensor<4x8xf32>, %x2: tensor<4x8xf32>) {
    %t = stablehlo.add %x1, %x2 : tensor<4x8xf32>
    mpmd.return %t : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  return %3 : !m1
}
