// RUN: sdy-opt %s -sdy-resolve-permutation-factors | FileCheck %s
// RUN: sdy-opt %s -sdy-resolve-permutation-factors="enable-halo-exchange=false" | FileCheck %s --check-prefix=WHOLE
// RUN: sdy-opt %s -sdy-resolve-permutation-factors="replica-count=2" | FileCheck %s --check-prefix=REPLICAS

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @grid = <["x"=2, "y"=2]>
#x = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>
#rows = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>

// Halves of the rows of the one are halves of the rows of the other.
// CHECK-LABEL: func.func @alike
func.func @alike(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %arg0
  // CHECK-NEXT: return %[[RESHAPE]]
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @unlike
func.func @unlike(%arg0: tensor<12x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> tensor<8x36xf32> {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<12x24xf32>
  // CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %[[RESHARD]]
  // CHECK-SAME: sdy.sharding_per_value<[<@mesh, [{}, {}]>]>
  // CHECK-NEXT: %[[RESHARD_1:.*]] = sdy.reshard %[[RESHAPE]] <@mesh, [{}, {"x"}]> : tensor<8x36xf32>
  // CHECK-NEXT: return %[[RESHARD_1]]
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<12x24xf32>) -> tensor<8x36xf32>
  return %0 : tensor<8x36xf32>
}

// A row from each side. At the ends there is nobody to send one, and zeros arrive.
// CHECK-LABEL: func.func @convolution
// WHOLE-LABEL: func.func @convolution
// REPLICAS-LABEL: func.func @convolution
func.func @convolution(
    %arg0: tensor<1x8x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},
    %arg1: tensor<3x1x1xf32>) -> tensor<1x8x1xf32> {
  // CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%arg0, %arg1)
  // CHECK-SAME: in_shardings=[<@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {}, {}]>]
  // CHECK-SAME: out_shardings=[<@mesh, [{}, {"x"}, {}]>] manual_axes={"x"}
  // CHECK-SAME: (%arg2: tensor<1x4x1xf32>, %arg3: tensor<3x1x1xf32>) {
  // CHECK-NEXT:   %[[SLICE:.*]] = stablehlo.slice %arg2 [0:1, 3:4, 0:1]
  // CHECK-NEXT:   %[[PERMUTE:.*]] = "stablehlo.collective_permute"(%[[SLICE]]) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{{\[}}[0, 1]]>
  // CHECK-NEXT:   %[[SLICE_1:.*]] = stablehlo.slice %arg2 [0:1, 0:1, 0:1]
  // CHECK-NEXT:   %[[PERMUTE_1:.*]] = "stablehlo.collective_permute"(%[[SLICE_1]]) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<{{\[}}[1, 0]]>
  // CHECK-NEXT:   %[[CONCATENATE:.*]] = stablehlo.concatenate %[[PERMUTE]], %arg2, %[[PERMUTE_1]], dim = 1
  // CHECK-NEXT:   %[[CONVOLUTION:.*]] = stablehlo.convolution(%[[CONCATENATE]], %arg3)
  // CHECK-SAME:     pad = {{\[}}[0, 0]]
  // CHECK-SAME:     (tensor<1x6x1xf32>, tensor<3x1x1xf32>) -> tensor<1x4x1xf32>
  // CHECK-NEXT:   sdy.return %[[CONVOLUTION]]
  // CHECK-NEXT: } : (tensor<1x8x1xf32>, tensor<3x1x1xf32>) -> tensor<1x8x1xf32>
  // CHECK-NEXT: return %[[MANUAL]]

  // WHOLE-NEXT: %[[ALL_GATHER:.*]] = sdy.all_gather [{}, {"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}, {}]>
  // WHOLE-NEXT: %[[CONVOLUTION:.*]] = stablehlo.convolution(%[[ALL_GATHER]], %arg1)
  // WHOLE-SAME: pad = {{\[}}[1, 1]]
  // WHOLE-NEXT: %[[ALL_SLICE:.*]] = sdy.all_slice [{}, {"x"}, {}] %[[CONVOLUTION]] out_sharding=<@mesh, [{}, {"x"}, {}]>
  // WHOLE-NEXT: return %[[ALL_SLICE]]

  // REPLICAS: "stablehlo.collective_permute"(%[[VALUE:[0-9]+]]) <{channel_handle = #stablehlo.channel_handle<handle = -1, type = 1>, source_target_pairs
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    sdy.sharding = #rows} : (tensor<1x8x1xf32>, tensor<3x1x1xf32>) -> tensor<1x8x1xf32>
  return %0 : tensor<1x8x1xf32>
}

// The first shard has 4 elements of 7. Nothing moves when one is cut off or added at the end.
// CHECK-LABEL: func.func @uneven
func.func @uneven(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<7xf32> {
  // CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %arg0 [0:7] {sdy.sharding = {{.*}}<@mesh, [{"x"}]>
  // CHECK:      %[[PAD:.*]] = stablehlo.pad %[[SLICE]], %{{.*}}, low = [0], high = [1], interior = [0]
  // CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%[[PAD]])
  // CHECK-NEXT:   %[[SLICE_1:.*]] = stablehlo.slice %arg1 [3:4]
  // CHECK-NEXT:   %[[SLICE_2:.*]] = stablehlo.slice %arg1 [0:3]
  // CHECK-NEXT:   %[[PERMUTE:.*]] = "stablehlo.collective_permute"(%[[SLICE_2]])
  // CHECK-SAME:     dense<{{\[}}[1, 0], [0, 1]]>
  // CHECK-NEXT:   %[[CONCATENATE:.*]] = stablehlo.concatenate %[[SLICE_1]], %[[PERMUTE]], dim = 0
  // CHECK-NEXT:   %[[REVERSE:.*]] = stablehlo.reverse %[[CONCATENATE]], dims = [0] : tensor<4xf32>
  // CHECK-NEXT:   sdy.return %[[REVERSE]]
  // CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[SLICE_3:.*]] = stablehlo.slice %[[MANUAL]] [0:7] {sdy.sharding = {{.*}}<@mesh, [{"x"}]>
  // CHECK-NEXT: return %[[SLICE_3]]
  %0 = stablehlo.slice %arg0 [0:7] {sdy.sharding = #x} : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.reverse %0, dims = [0] {sdy.sharding = #x} : tensor<7xf32>
  return %1 : tensor<7xf32>
}

// The slices are taken where they come from.
// CHECK-LABEL: func.func @roll
func.func @roll(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  // CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%arg0)
  // CHECK-NEXT:   %[[SLICE:.*]] = stablehlo.slice %arg1 [1:4]
  // CHECK-NEXT:   %[[SLICE_1:.*]] = stablehlo.slice %arg1 [0:1]
  // CHECK-NEXT:   %[[PERMUTE:.*]] = "stablehlo.collective_permute"(%[[SLICE_1]])
  // CHECK-SAME:     dense<{{\[}}[1, 0], [0, 1]]>
  // CHECK-NEXT:   %[[CONCATENATE:.*]] = stablehlo.concatenate %[[SLICE]], %[[PERMUTE]], dim = 0
  // CHECK-NEXT:   sdy.return %[[CONCATENATE]]
  // CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: return %[[MANUAL]]
  %0 = stablehlo.slice %arg0 [1:8] {sdy.sharding = #x} : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.slice %arg0 [0:1] {sdy.sharding = #x} : (tensor<8xf32>) -> tensor<1xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 {sdy.sharding = #x}
    : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func.func @cumulative
// REPLICAS-LABEL: func.func @cumulative
func.func @cumulative(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  // CHECK: %[[OWN:.*]] = "stablehlo.reduce_window"(%arg1, %arg2)
  // CHECK-SAME: padding = dense<{{\[}}[3, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>
  // CHECK: %[[TOTAL:.*]] = stablehlo.slice %[[OWN]] [3:4]
  // CHECK: "stablehlo.all_gather"(%[[TOTAL]])
  // CHECK-SAME: (tensor<1xf32>) -> tensor<2xf32>
  // REPLICAS-NOT: stablehlo.partition_id
  // REPLICAS: stablehlo.replica_id
  // REPLICAS-NOT: stablehlo.partition_id
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%arg0, %zero) <{window_dimensions = array<i64: 8>,
      padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #x} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Halves of 5 are made halves of 6, which are divided as they are.
// CHECK-LABEL: func.func @uneven_reshard
func.func @uneven_reshard(%arg0: tensor<10xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x"}]>})
    -> tensor<10xf32> {
  // CHECK:      %[[WIDE:.*]] = sdy.manual_computation(%arg0
  // CHECK:        "stablehlo.collective_permute"({{.*}}) <{{{.*}}tensor<2x2xi64>}> : (tensor<1xf32>)
  // CHECK:      } : (tensor<10xf32>, tensor<f32>) -> tensor<12xf32>
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %[[WIDE]] <@grid, [{"x", "y"}]> : tensor<12xf32>
  // CHECK-NEXT: %[[CUT:.*]] = stablehlo.slice %[[MOVED]] [0:10]
  // CHECK-NEXT: return %[[CUT]]
  %0 = sdy.reshard %arg0 <@grid, [{"x", "y"}]> : tensor<10xf32>
  return %0 : tensor<10xf32>
}

// Pieces of 5 elements become pieces of 6, which are 3 rows of 2.
// CHECK-LABEL: func.func @uneven_split
// WHOLE-LABEL: func.func @uneven_split
func.func @uneven_split(%arg0: tensor<20xf32> {sdy.sharding = #sdy.sharding<@grid, [{"x", "y"}]>})
    -> tensor<10x2xf32> {
  // CHECK:      %[[WIDE:.*]] = sdy.manual_computation(%arg0
  // CHECK:      } : (tensor<20xf32>, tensor<f32>) -> tensor<24xf32>
  // CHECK-NEXT: %[[ROWS:.*]] = stablehlo.reshape %[[WIDE]] {{.*}} -> tensor<12x2xf32>
  // CHECK-NEXT: %[[CUT:.*]] = stablehlo.slice %[[ROWS]] [0:10, 0:2]
  // CHECK-NEXT: return %[[CUT]]
  // WHOLE-NEXT: sdy.reshard %arg0 <@grid, [{}]>
  %0 = stablehlo.reshape %arg0
    {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x", "y"}, {}]>]>}
    : (tensor<20xf32>) -> tensor<10x2xf32>
  return %0 : tensor<10x2xf32>
}

// Columns of 8 x 4 are no runs of 32 elements: an all-to-all makes rows of them.
// CHECK-LABEL: func.func @columns_to_rows
// WHOLE-LABEL: func.func @columns_to_rows
func.func @columns_to_rows(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {"x"}]>})
    -> tensor<32xf32> {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@grid, [{"x"}, {}]>
  // CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %[[RESHARD]] {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}]>]>}
  // CHECK-NEXT: return %[[RESHAPE]]
  // WHOLE-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@grid, [{"x"}, {}]>
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@grid, [{"x"}]>]>}
    : (tensor<8x4xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
