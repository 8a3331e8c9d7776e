// RUN: sdy-opt %s -sdy-reshard-to-collectives | FileCheck %s
// RUN: sdy-opt %s "-sdy-reshard-to-collectives=keep-redundant-reshards=true" \
// RUN:   | FileCheck %s --check-prefix=KEEP

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @permuted = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @other = <["z"=4]>
sdy.mesh @single = <[], device_ids=[1]>

// CHECK-LABEL: func.func @each
func.func @each(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[ALL_SLICE:.*]] = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]>
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[PERMUTE:.*]] = sdy.collective_permute %[[ALL_SLICE]] out_sharding=<@mesh, [{"y"}, {"x"}]>
  %1 = sdy.reshard %0 <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[ALL_GATHER:.*]] = sdy.all_gather [{"y"}, {}] %[[PERMUTE]] out_sharding=<@mesh, [{}, {"x"}]>
  %2 = sdy.reshard %1 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[ALL_TO_ALL:.*]] = sdy.all_to_all [{"x"}: 1->0] %[[ALL_GATHER]] out_sharding=<@mesh, [{"x"}, {}]>
  %3 = sdy.reshard %2 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[ALL_TO_ALL]]
  return %3 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @chain
func.func @chain(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[ALL_SLICE:.*]] = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {"x", "y"}]>
  // CHECK-NEXT: %[[ALL_TO_ALL:.*]] = sdy.all_to_all [{"x", "y"}: 1->0] %[[ALL_SLICE]] out_sharding=<@mesh, [{"x", "y"}, {}]>
  // CHECK-NEXT: return %[[ALL_TO_ALL]]
  %0 = sdy.reshard %arg0 <@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @nothing_to_do
// KEEP-LABEL: func.func @nothing_to_do
func.func @nothing_to_do(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  // CHECK-NEXT: return %arg0
  // KEEP-NEXT: sdy.reshard
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @order_of_devices
func.func @order_of_devices(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  // CHECK-NEXT: %[[PERMUTE:.*]] = sdy.collective_permute %arg0 out_sharding=<@permuted, [{"x"}]>
  %0 = sdy.reshard %arg0 <@permuted, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Between meshes of other axes, a reshard stays that only says in other words what devices hold. To
// and from a single device, one stays of a whole tensor.
// CHECK-LABEL: func.func @other_meshes
func.func @other_meshes(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: [[SAME:%.+]] = sdy.reshard %arg0 <@other, [{"z":(1)2}]>
  // CHECK-NEXT: sdy.all_slice [{"z":(2)2}] [[SAME]] out_sharding=<@other, [{"z"}]>
  %0 = sdy.reshard %arg0 <@other, [{"z"}]> : tensor<8xf32>
  // CHECK-NEXT: [[WHOLE:%.+]] = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh, [{}]>
  // CHECK-NEXT: [[THERE:%.+]] = sdy.reshard [[WHOLE]] <@single, []>
  %1 = sdy.reshard %arg0 <@single, []> : tensor<8xf32>
  // CHECK-NEXT: stablehlo.negate [[THERE]]
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@single, []>]>} : tensor<8xf32>
  // CHECK-NEXT: [[BACK:%.+]] = sdy.reshard {{.*}} <@mesh, [{}]>
  // CHECK-NEXT: sdy.all_slice [{"x"}] [[BACK]] out_sharding=<@mesh, [{"x"}]>
  %3 = sdy.reshard %2 <@mesh, [{"x"}]> : tensor<8xf32>
  return %0, %3 : tensor<8xf32>, tensor<8xf32>
}
