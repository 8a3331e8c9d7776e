// RUN: sdy-opt %s -sdy-inline-meshes | FileCheck %s

// CHECK-NOT: sdy.mesh @
sdy.mesh @m = <["p"=2]>

// A mesh is looked for in the nearest module.
// CHECK: module @inner
module @inner {
  // CHECK-NOT: sdy.mesh @
  sdy.mesh @m = <["other"=4]>
  // CHECK: func.func @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["other"=4]>, [{"other"}]>})
  func.func @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"other"}]>}) {
    return
  }
}
