// RUN: sdy-opt %s -sdy-convert-global-to-local -sdy-drop-sharding-and-mesh | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// Indices are cut to those of the table, and count from the start of the shard. What is not there
// is zero, and the sum of all devices has the rest.
// CHECK-LABEL: func.func @gather(%arg0: tensor<4x3xf32>, %arg1: tensor<5xi32>) -> tensor<5x3xf32>
func.func @gather(%arg0: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %arg1: tensor<5xi32>) -> tensor<5x3xf32> {
  // CHECK-DAG: %[[LOW:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK-DAG: %[[HIGH:.*]] = stablehlo.constant dense<7> : tensor<i32>
  // CHECK-DAG: stablehlo.partition_id
  // CHECK-DAG: stablehlo.constant dense<[0, 4]> : tensor<2xi64>
  // CHECK-DAG: %[[THREE:.*]] = stablehlo.constant dense<3> : tensor<i32>
  // CHECK: %[[CUT:.*]] = stablehlo.clamp %[[LOW]], %arg1, %[[HIGH]]
  // CHECK: %[[LOCAL:.*]] = stablehlo.subtract %[[CUT]], %{{.*}} : tensor<5xi32>
  // CHECK-NEXT: %[[INSIDE:.*]] = stablehlo.clamp %{{.*}}, %[[LOCAL]], %[[THREE]]
  // CHECK-NEXT: %[[MASK:.*]] = stablehlo.compare EQ, %[[INSIDE]], %[[LOCAL]]
  // CHECK-NEXT: %[[ROWS:.*]] = "stablehlo.gather"(%arg0, %[[INSIDE]]) {{.*}} -> tensor<5x3xf32>
  // CHECK-NEXT: %[[MASKS:.*]] = stablehlo.broadcast_in_dim %[[MASK]], dims = [0]
  // CHECK: %[[OWN:.*]] = stablehlo.select %[[MASKS]], %[[ROWS]], %{{.*}}
  // CHECK-NEXT: "stablehlo.all_reduce"(%[[OWN]])
  %0 = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 3>} : (tensor<8x3xf32>, tensor<5xi32>) -> tensor<5x3xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<5x3xf32>
  return %1 : tensor<5x3xf32>
}

// What is out of bounds of the shard is left out.
// CHECK-LABEL: func.func @scatter
func.func @scatter(%arg0: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                   %arg1: tensor<5xi8>, %arg2: tensor<5x3xf32>)
    -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-DAG: %[[LOW:.*]] = stablehlo.constant dense<-1> : tensor<i8>
  // CHECK-DAG: %[[HIGH:.*]] = stablehlo.constant dense<8> : tensor<i8>
  // CHECK: %[[CUT:.*]] = stablehlo.clamp %[[LOW]], %arg1, %[[HIGH]]
  // CHECK-NEXT: %[[WIDE:.*]] = stablehlo.convert %[[CUT]] : (tensor<5xi8>) -> tensor<5xi32>
  // CHECK: %[[LOCAL:.*]] = stablehlo.subtract %[[WIDE]], %{{.*}} : tensor<5xi32>
  // CHECK-NEXT: "stablehlo.scatter"(%arg0, %[[LOCAL]], %arg2)
  // CHECK-NOT: stablehlo.all_reduce
  // CHECK: return
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<8x3xf32>, tensor<5xi8>, tensor<5x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// Of one row, a device has all or nothing.
// CHECK-LABEL: func.func @update
func.func @update(%arg0: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %arg1: tensor<1x3xf32>, %arg2: tensor<i64>)
    -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[START:.*]] = stablehlo.subtract %{{.*}}, %{{.*}} : tensor<i64>
  // CHECK: %[[AT:.*]] = stablehlo.clamp %{{.*}}, %[[START]], %{{.*}} : tensor<i64>
  // CHECK-NEXT: %[[WITHIN:.*]] = stablehlo.subtract %[[AT]], %[[START]]
  // CHECK: %[[OLD:.*]] = stablehlo.dynamic_slice %arg0, %[[AT]], %{{.*}}, sizes = [1, 3]
  // CHECK: %[[HERE:.*]] = stablehlo.compare EQ, %[[WITHIN]], %{{.*}}
  // CHECK-NEXT: %[[NEW:.*]] = stablehlo.select %[[HERE]], %arg1, %[[OLD]]
  // CHECK-NEXT: stablehlo.dynamic_update_slice %arg0, %[[NEW]], %[[AT]]
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %zero
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i64>, tensor<i64>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
