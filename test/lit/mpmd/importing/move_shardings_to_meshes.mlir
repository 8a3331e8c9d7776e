// RUN: sdy-opt %s -mpmd-move-shardings-to-meshes -split-input-file -verify-diagnostics | FileCheck %s

#topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=4, "y"=1]>>>

// CHECK-DAG: sdy.mesh @m0 = <["x"=2]>
// CHECK-DAG: sdy.mesh @m1 = <["x"=4, "y"=1]>
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: !mpmd.mesh_tensor<"m0", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4xf32>>)
    -> (!mpmd.mesh_tensor<"m0", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (%b: tensor<4xf32>) {
    // CHECK: sdy.sharding_constraint %{{.*}} <@m0, [{"x"}]>
    %2 = sdy.sharding_constraint %b <@mesh, [{"x"}]> : tensor<4xf32>
    mpmd.return %2 : tensor<4xf32>
  } : (!mpmd.mesh_tensor<"m0", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m0", tensor<4xf32>>
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%arg1) (%b: tensor<4xf32>) {
    // CHECK: sdy.sharding_constraint %{{.*}} <@m1, [{"x"}]>
    %2 = sdy.sharding_constraint %b <@mesh, [{"x"}]> : tensor<4xf32>
    mpmd.return %2 : tensor<4xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
  return %0, %1 : !mpmd.mesh_tensor<"m0", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>
}

// -----

#topology = #mpmd.topology<<"m0" : <["x"=2, "y"=2]>>, <"m1" : <["x"=4]>>>

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>> attributes {topology = #topology} {
  // expected-error @below {{the sharding <@mesh, [{"y"}]> is on mesh 'm1', which has no axis 'y', but <["x"=4]>: leave the axis out}}
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%b: tensor<4xf32>) {
    %1 = sdy.sharding_constraint %b <@mesh, [{"y"}]> : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
  return %0 : !mpmd.mesh_tensor<"m1", tensor<4xf32>>
}
