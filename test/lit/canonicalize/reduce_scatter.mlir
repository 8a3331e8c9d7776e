// All-reduces whose results are only sliced.

// RUN: sdy-opt %s -canonicalize | FileCheck %s

sdy.mesh @m = <["u"=4, "v"=2, "w"=2]>

// CHECK-LABEL: func.func @scatter
func.func @scatter(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}], unreduced={"v"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[S:.*]] = sdy.reduce_scatter [{}, {"v"}] %arg0 out_sharding=<@m, [{"u"}, {"v"}]>
  // CHECK-NEXT: return %[[S]]
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"v"}] %0 out_sharding=<@m, [{"u"}, {"v"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @rest_to_slice
func.func @rest_to_slice(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}], unreduced={"v"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[S:.*]] = sdy.reduce_scatter [{}, {"v"}] %arg0 out_sharding=<@m, [{"u"}, {"v"}]>
  // CHECK-NEXT: %[[R:.*]] = sdy.all_slice [{}, {"w"}] %[[S]] out_sharding=<@m, [{"u"}, {"v", "w"}]>
  // CHECK-NEXT: return %[[R]]
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"v", "w"}] %0 out_sharding=<@m, [{"u"}, {"v", "w"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @same_slices
func.func @same_slices(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}], unreduced={"v"}>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[S:.*]] = sdy.reduce_scatter [{}, {"v"}] %arg0
  // CHECK-NEXT: return %[[S]], %[[S]]
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"v"}] %0 out_sharding=<@m, [{"u"}, {"v"}]> : tensor<8x8xf32>
  %2 = sdy.all_slice [{}, {"v"}] %0 out_sharding=<@m, [{"u"}, {"v"}]> : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @axes_left_over
func.func @axes_left_over(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}], unreduced={"v", "w"}>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.all_reduce {"v", "w"}
  // CHECK-NEXT: sdy.all_slice
  %0 = sdy.all_reduce {"v", "w"} %arg0 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"v"}] %0 out_sharding=<@m, [{"u"}, {"v"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @other_use
func.func @other_use(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"u"}, {}], unreduced={"v"}>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: sdy.all_reduce {"v"}
  // CHECK-NEXT: sdy.all_slice
  %0 = sdy.all_reduce {"v"} %arg0 out_sharding=<@m, [{"u"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"v"}] %0 out_sharding=<@m, [{"u"}, {"v"}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
