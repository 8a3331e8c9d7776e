// RUN: sdy-opt %s -sdy-export-pipeline | FileCheck %s
// RUN: sdy-opt %s -sdy-export-pipeline=avoid-export-for-partitioning=true | FileCheck %s --check-prefix=AVOIDED
// RUN: sdy-opt %s '-sdy-export-pipeline=enable-insert-explicit-collectives=true inline-meshes=false keep-sharding-rules=true' | FileCheck %s --check-prefix=COLLECTIVES
// RUN: mkdir -p %t.dir
// RUN: sdy-opt %s '-sdy-export-pipeline=dump-directory=%t.dir dump-sharding-origins=true' | FileCheck %s
// RUN: FileCheck %s --check-prefix=DUMP < %t.dir/00.after_propagation.mlir
// RUN: FileCheck %s < %t.dir/01.after_minimal_partitioner_with_global_shapes.mlir --check-prefix=MINIMAL
// RUN: sdy-opt %s '-sdy-export-pipeline=dump-directory=%t.dir enable-insert-explicit-collectives=true'
// RUN: FileCheck %s --check-prefix=RESHARDS < %t.dir/01.after_explicit_reshards.mlir
// RUN: FileCheck %s --check-prefix=COLLECTIVES < %t.dir/02.after_partitioner_with_global_shapes.mlir

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-NOT: sdy.mesh @
// CHECK: func.func @main(%arg0: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {"y":(1)2}]>}
// AVOIDED: sdy.mesh @mesh
// AVOIDED: func.func @main(%arg0: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}]>}
// COLLECTIVES: func.func @main
func.func @main(%arg0: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y"}]>}) -> tensor<8x6xf32> {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <mesh<["x"=2, "y"=4]>, [{"x"}, {}]>
  // CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %[[RESHARD]]
  // CHECK-NEXT: %[[OPTIMIZATION_BARRIER:.*]] = stablehlo.optimization_barrier
  // CHECK-NOT: sharding_origins
  // CHECK: return %[[OPTIMIZATION_BARRIER]]
  // AVOIDED: sdy.sharding_group %arg0
  // AVOIDED-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]>
  // AVOIDED-NEXT: stablehlo.cosine
  // COLLECTIVES-NEXT: %[[ALL_GATHER:.*]] = sdy.all_gather [{}, {"y":(1)2}] %arg0
  // COLLECTIVES-NEXT: %[[NEGATE:.*]] = stablehlo.negate %[[ALL_GATHER]] {
  // COLLECTIVES-SAME: sdy.sharding_rule
  // DUMP: sdy.reshard
  // DUMP: sdy.result_sharding_origins = [{x = "self"}]
  // MINIMAL: sdy.mesh @mesh
  // MINIMAL: sdy.reshard
  // RESHARDS: sdy.reshard %arg0 <@mesh, [{"x"}, {}]>
  sdy.sharding_group %arg0 group_id=0 : tensor<8x6xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {}]> : tensor<8x6xf32>
  %1 = stablehlo.cosine %0 : tensor<8x6xf32>
  %2 = stablehlo.negate %0 {
      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {}]>]>,
      sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=6}>} : tensor<8x6xf32>
  %3 = stablehlo.optimization_barrier %2 : tensor<8x6xf32>
  %4 = sdy.data_flow_edge %3 sharding=<@mesh, [{"x"}, {}]> {sdy.sharding_origins = {x = "self"}} : tensor<8x6xf32>
  return %4 : tensor<8x6xf32>
}
