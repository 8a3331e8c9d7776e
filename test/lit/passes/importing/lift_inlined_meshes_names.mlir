// RUN: sdy-opt %s -sdy-lift-inlined-meshes | FileCheck %s
// RUN: sdy-opt %s -sdy-lift-inlined-meshes=use-single-device-mesh-names=true | FileCheck %s --check-prefix=SINGLE

// CHECK: sdy.mesh @maximal_mesh_1 = <[], device_ids=[1]>
// SINGLE: sdy.mesh @single_device_1 = <[], device_ids=[1]>
func.func @device(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[1]>, []>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
