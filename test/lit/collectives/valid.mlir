// Collectives whose result is what their operand and their axes lead to.

// RUN: sdy-opt %s | FileCheck %s

sdy.mesh @k = <["u"=8, "v"=2, "w"=2]>
sdy.mesh @turned = <["u"=2], device_ids=[1, 0]>
sdy.mesh @straight = <["u"=2]>

// CHECK-LABEL: func.func @chain
func.func @chain(%arg0: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // An operand without a sharding is one without axes.
  // CHECK: sdy.all_slice [{"u"}, {"v"}] %arg0 out_sharding=<@k, [{"u"}, {"v"}]>
  %0 = sdy.all_slice [{"u"}, {"v"}] %arg0 out_sharding=<@k, [{"u"}, {"v"}]> : tensor<32x32xf32>
  // CHECK-NEXT: sdy.all_gather [{"u":(2)4}, {}] %[[VALUE:[0-9]+]] out_sharding=<@k, [{"u":(1)2}, {"v"}]>
  %1 = sdy.all_gather [{"u":(2)4}, {}] %0 out_sharding=<@k, [{"u":(1)2}, {"v"}]> : tensor<32x32xf32>
  // CHECK-NEXT: sdy.all_to_all [{"v"}: 1->0] %[[VALUE_1:[0-9]+]] out_sharding=<@k, [{"u":(1)2, "v"}, {}]>
  %2 = sdy.all_to_all [{"v"}: 1->0] %1 out_sharding=<@k, [{"u":(1)2, "v"}, {}]> : tensor<32x32xf32>
  // CHECK-NEXT: sdy.collective_permute %[[VALUE_2:[0-9]+]] out_sharding=<@k, [{"u":(2)4}, {}]>
  %3 = sdy.collective_permute %2 out_sharding=<@k, [{"u":(2)4}, {}]> : tensor<32x32xf32>
  // CHECK-NEXT: sdy.sharded_to_unreduced [{"u":(4)2}, {}] %[[VALUE_3:[0-9]+]] out_sharding=<@k, [{"u":(2)2}, {}], unreduced={"u":(4)2}>
  %4 = sdy.sharded_to_unreduced [{"u":(4)2}, {}] %3 out_sharding=<@k, [{"u":(2)2}, {}], unreduced={"u":(4)2}> : tensor<32x32xf32>
  // CHECK-NEXT: sdy.replicated_to_unreduced {"v"} %[[VALUE_4:[0-9]+]] out_sharding=<@k, [{"u":(2)2}, {}], unreduced={"u":(4)2, "v"}>
  %5 = sdy.replicated_to_unreduced {"v"} %4 out_sharding=<@k, [{"u":(2)2}, {}], unreduced={"u":(4)2, "v"}> : tensor<32x32xf32>
  // CHECK-NEXT: sdy.reduce_scatter [{"u":(4)2}, {}] %[[VALUE_5:[0-9]+]] out_sharding=<@k, [{"u":(2)4}, {}], unreduced={"v"}>
  %6 = sdy.reduce_scatter [{"u":(4)2}, {}] %5 out_sharding=<@k, [{"u":(2)4}, {}], unreduced={"v"}> : tensor<32x32xf32>
  // CHECK-NEXT: sdy.all_reduce {"v"} %[[VALUE_6:[0-9]+]] out_sharding=<@k, [{"u":(2)4}, {}]>
  %7 = sdy.all_reduce {"v"} %6 out_sharding=<@k, [{"u":(2)4}, {}]> : tensor<32x32xf32>
  return %7 : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @kinds_of_reduction
func.func @kinds_of_reduction(
    %arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@k, [{}], unreduced=max{"u", "v"}>})
    -> tensor<32xf32> {
  // CHECK-NEXT: sdy.reduce_scatter max [{"u"}] %arg0 out_sharding=<@k, [{"u"}], unreduced=max{"v"}>
  %0 = sdy.reduce_scatter max [{"u"}] %arg0 out_sharding=<@k, [{"u"}], unreduced=max{"v"}> : tensor<32xf32>
  // CHECK-NEXT: sdy.all_reduce max {"v"} %[[VALUE:[0-9]+]] out_sharding=<@k, [{"u"}]>
  %1 = sdy.all_reduce max {"v"} %0 out_sharding=<@k, [{"u"}]> : tensor<32xf32>
  return %1 : tensor<32xf32>
}

// CHECK-LABEL: func.func @other_order_of_devices
func.func @other_order_of_devices(
    %arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@straight, [{"u"}]>}) -> tensor<32xf32> {
  // CHECK-NEXT: sdy.collective_permute %arg0 out_sharding=<@turned, [{"u"}]>
  %0 = sdy.collective_permute %arg0 out_sharding=<@turned, [{"u"}]> : tensor<32xf32>
  return %0 : tensor<32xf32>
}
