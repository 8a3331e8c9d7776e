// RUN: sdy-opt %s -mpmd-simplify-program | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg2: tensor<4x8xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.add %arg2, %arg2
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT: return %[[V0]], %[[V0]]
func.func @main(%a: !m1, %b: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %0:4 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %a, %b) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
    %1 = stablehlo.add %x, %y : tensor<4x8xf32>
    %2 = stablehlo.tanh %z : tensor<4x8xf32>
    mpmd.return %1, %1, %2, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1, !m1, !m1) -> (!m1, !m1, !m1, !m1)
  return %0#0, %0#1 : !m1, !m1
}

// A result that is an operand is replaced; a result in other memory is not.
// CHECK-LABEL: func.func @operands
// CHECK-NEXT: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%arg0) (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: mpmd.return %arg1
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
// CHECK-NEXT: return %arg0, %[[V0]]
func.func @operands(%a: !m1) -> (!m1, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  %2:2 = mpmd.fragment<mesh="m1", origin=["g"]> (%0) (%x: tensor<4x8xf32>) {
    mpmd.return %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1) -> (!m1, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">)
  return %2#0, %2#1 : !m1, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
}

// The shardings of dropped values are dropped.
// CHECK-LABEL: func.func @sharded
// CHECK-NEXT: mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{}, {"x"}]>]> (%arg0)
func.func @sharded(%a: !m1, %b: !m1) -> !m1 attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {"x"}]>]> (%b, %a) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %x : tensor<4x8xf32>
    %2 = stablehlo.tanh %y : tensor<4x8xf32>
    mpmd.return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  return %0#1 : !m1
}

// A result of a custom call stays, although nothing uses it.
// CHECK-LABEL: func.func @custom_call
// CHECK-NEXT: %[[V0:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
// CHECK: mpmd.return %{{.*}}#1, %{{.*}}#0
// CHECK: return %[[V0]]#0
func.func @custom_call(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0:3 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    %t = stablehlo.create_token : !stablehlo.token
    %1:2 = stablehlo.custom_call @g(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4x8xf32>) -> (!stablehlo.token, tensor<4x8xf32>)
    %2 = stablehlo.tanh %1#1 : tensor<4x8xf32>
    mpmd.return %1#1, %1#0, %2 : tensor<4x8xf32>, !stablehlo.token, tensor<4x8xf32>
  } : (!m1) -> (!m1, !stablehlo.token, !m1)
  return %0#0 : !m1
}
