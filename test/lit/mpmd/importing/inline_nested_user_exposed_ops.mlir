// RUN: sdy-opt %s '-mpmd-inline-nested-user-exposed-ops=assignment=f@m1,g@m1,t@m1' | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4xf32>>
#topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>, <"m3" : <["x"=2]>>>

// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = mpmd.named_computation<"f"> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %[[V1:.*]] = stablehlo.tanh %arg1
// CHECK-NEXT: mpmd.return %[[V1]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.named_computation<"f"> (%a) (%x: tensor<4xf32>) {
    %1 = mpmd.named_computation<"g"> (%x) (%y: tensor<4xf32>) {
      %4 = stablehlo.tanh %y : tensor<4xf32>
      mpmd.return %4 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %2 = mpmd.named_tensor %1 name="t" : tensor<4xf32>
    %3 = mpmd.broadcast %2 : tensor<4xf32>
    mpmd.return %3 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
