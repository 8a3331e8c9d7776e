// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(sdy-move-reshards,sdy-optimize-reshards))" | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @one = <[], device_ids=[3]>

// Half as many bytes are gathered after the conversion.
// CHECK-LABEL: func.func @narrowed
func.func @narrowed(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xbf16> {
  // CHECK-NEXT: %[[CONVERT:.*]] = stablehlo.convert %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %[[CONVERT]] <@mesh, [{}, {}]> : tensor<8x8xbf16>
  // CHECK-NEXT: return %[[RESHARD]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.convert %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  return %1 : tensor<8x8xbf16>
}

// The other way round they are gathered before it.
// CHECK-LABEL: func.func @widened
func.func @widened(%arg0: tensor<8x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xbf16>
  // CHECK-NEXT: %[[CONVERT:.*]] = stablehlo.convert %[[RESHARD]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  // CHECK-NEXT: return %[[CONVERT]]
  %0 = stablehlo.convert %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// The sum is gathered, not both of its terms; and the conversion comes before that, too.
// CHECK-LABEL: func.func @of_a_sum
func.func @of_a_sum(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xbf16> {
  // CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK-NEXT: %[[CONVERT:.*]] = stablehlo.convert %[[ADD]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %[[CONVERT]] <@mesh, [{}, {}]> : tensor<8x8xbf16>
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
  %3 = stablehlo.convert %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  return %3 : tensor<8x8xbf16>
}

// A gathered value that something else uses, too, is gathered anyhow.
// CHECK-LABEL: func.func @used_twice
func.func @used_twice(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xbf16>) {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[CONVERT:.*]] = stablehlo.convert %[[RESHARD]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.convert %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xbf16>
}

// Equal reshards are one, and what is whole is sliced, without sending anything.
// CHECK-LABEL: func.func @several_of_a_value
func.func @several_of_a_value(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[RESHARD_1:.*]] = sdy.reshard %[[RESHARD]] <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[RESHARD]], %[[RESHARD_1]], %[[RESHARD]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %2 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0, %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// Each device makes the part of an iota that it needs; the old one goes.
// CHECK-LABEL: func.func @made_where_wanted
func.func @made_where_wanted() -> tensor<8x8xi32> {
  // CHECK-NEXT: %[[IOTA:.*]] = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x8xi32>
  // CHECK-NEXT: return %[[IOTA]]
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xi32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}, {}]> : tensor<8x8xi32>
  return %1 : tensor<8x8xi32>
}

// Reshards of reshards become one.
// CHECK-LABEL: func.func @of_a_reshard
func.func @of_a_reshard(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[RESHARD]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What is made of a value by transposes and reshapes goes out from what was resharded before, here
// behind them; the first of both reshards moves in front of its own.
// CHECK-LABEL: func.func @behind_transposes_and_reshapes
func.func @behind_transposes_and_reshapes(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x2x2xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  // CHECK-NEXT: %[[TRANSPOSE:.*]] = stablehlo.transpose %[[RESHARD]], dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
  // CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %[[TRANSPOSE]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}, {}]>]>}
  // CHECK-NEXT: return %[[RESHAPE]], %[[RESHARD]]
  %0 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x2x2xf32>
  %2 = sdy.reshard %1 <@mesh, [{"y"}, {}, {}]> : tensor<8x2x2xf32>
  %3 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  return %2, %3 : tensor<8x2x2xf32>, tensor<4x8xf32>
}

// Halves of 32 elements are halves of the rows that were columns before the transpose: half of what
// a device has of other rows is all that it has to send.
// CHECK-LABEL: func.func @of_another_order
func.func @of_another_order(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4x8xf32>, tensor<32xf32>) {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{"y"}, {}]>
  // CHECK-NEXT: %[[RESHARD_1:.*]] = sdy.reshard %[[RESHARD]] <@mesh, [{}, {"y"}]>
  // CHECK-NEXT: %[[TRANSPOSE:.*]] = stablehlo.transpose %[[RESHARD_1]], dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
  // CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %[[TRANSPOSE]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
  // CHECK-NEXT: return %[[RESHARD]], %[[RESHAPE]]
  %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {}]> : tensor<4x8xf32>
  %1 = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.reshape %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8x4xf32>) -> tensor<32xf32>
  %3 = sdy.reshard %2 <@mesh, [{"y"}]> : tensor<32xf32>
  return %0, %3 : tensor<4x8xf32>, tensor<32xf32>
}

// A narrow copy is converted from what was resharded before.
// CHECK-LABEL: func.func @converted
func.func @converted(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xbf16>) {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[CONVERT:.*]] = stablehlo.convert %[[RESHARD]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
  // CHECK-NEXT: return %[[RESHARD]], %[[CONVERT]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %1 = stablehlo.convert %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %2 = sdy.reshard %1 <@mesh, [{}, {"y"}]> : tensor<8x8xbf16>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xbf16>
}

// A region of elementwise operations takes the sharding of the operations around it, with any
// number of uses inside of it and outside.
// CHECK-LABEL: func.func @region
func.func @region(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NOT: sdy.reshard
  // CHECK: %[[TANH:.*]] = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK-NEXT: %[[SQUARE:.*]] = stablehlo.multiply %[[TANH]], %[[TANH]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} dense<1.000000e+00>
  // CHECK-NEXT: %[[SLOPE:.*]] = stablehlo.subtract %[[ONE]], %[[SQUARE]]
  // CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %[[SLOPE]], %arg1
  // CHECK-NEXT: return %[[TANH]], %[[PRODUCT]]
  %one = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} dense<1.0> : tensor<8x8xf32>
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %3 = stablehlo.multiply %1, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32>
  %4 = stablehlo.subtract %one, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32>
  %5 = sdy.reshard %arg1 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %6 = stablehlo.multiply %4, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32>
  %7 = sdy.reshard %6 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %2, %7 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A region keeps a sharding with smaller shards, which saves memory, ...
// CHECK-LABEL: func.func @smaller_shards
func.func @smaller_shards(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                          %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: sdy.reshard %arg0
  // CHECK-NEXT: stablehlo.tanh {{.*}}<@mesh, [{"x"}, {"y"}]>
  // CHECK-NEXT: stablehlo.multiply {{.*}}<@mesh, [{"x"}, {"y"}]>
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  %2 = stablehlo.multiply %1, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// ... unless larger shards are there anyway, since an operation before it needs them.
// CHECK-LABEL: func.func @smaller_shards_in_between
func.func @smaller_shards_in_between(%arg0: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<8x8x8xf32>, tensor<8x8x8xf32>) {
  // CHECK-NEXT: %[[FACTOR:.*]] = stablehlo.cholesky %arg0
  // CHECK:      %[[MASK:.*]] = stablehlo.compare {{.*}}<@mesh, [{"x"}, {}, {}]>
  // CHECK:      %[[SELECT:.*]] = stablehlo.select %[[MASK]], %[[FACTOR]], {{.*}}<@mesh, [{"x"}, {}, {}]>
  // CHECK-NEXT: %[[SLICE:.*]] = sdy.reshard %[[SELECT]] <@mesh, [{"x"}, {"y"}, {}]>
  // CHECK-NEXT: return %[[SELECT]], %[[SLICE]]
  %0 = stablehlo.cholesky %arg0, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<8x8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {"y"}, {}]> : tensor<8x8x8xf32>
  %2 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>} : tensor<8x8x8xi32>
  %3 = stablehlo.iota dim = 2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>} : tensor<8x8x8xi32>
  %4 = stablehlo.compare GE, %2, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>} : (tensor<8x8x8xi32>, tensor<8x8x8xi32>) -> tensor<8x8x8xi1>
  %5 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>} dense<0.0> : tensor<8x8x8xf32>
  %6 = stablehlo.select %4, %1, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>} : tensor<8x8x8xi1>, tensor<8x8x8xf32>
  %7 = sdy.reshard %6 <@mesh, [{"x"}, {}, {}]> : tensor<8x8x8xf32>
  return %7, %6 : tensor<8x8x8xf32>, tensor<8x8x8xf32>
}

// A reduce-scatter along both axes and a gather along one send fewer bytes than an all-reduce.
// CHECK-LABEL: func.func @sliced_along_one_of_two_reduced_axes
func.func @sliced_along_one_of_two_reduced_axes(%arg0: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<256x256xf32> {
  // CHECK-NEXT: %[[SCATTER:.*]] = sdy.reduce_scatter {{\[}}{"x", "y"}, {}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<256x256xf32>
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %[[SCATTER]] <@mesh, [{"x"}, {}]> : tensor<256x256xf32>
  // CHECK-NEXT: return %[[RESHARD]]
  %0 = sdy.all_reduce {"x", "y"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<256x256xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<256x256xf32>
  return %1 : tensor<256x256xf32>
}

// The reduced axis and another one change places: the smaller shards are resharded.
// CHECK-LABEL: func.func @moved_while_reduced
func.func @moved_while_reduced(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[SCATTER:.*]] = sdy.reduce_scatter {{\[}}{}, {"x"}] %arg0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %[[SCATTER]] <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[SCATTER]], %[[RESHARD]]
  %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  %2 = sdy.reshard %0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// The result is needed as it is, too.
// CHECK-LABEL: func.func @reduced_for_another_use
func.func @reduced_for_another_use(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: sdy.all_reduce {"x", "y"}
  %0 = sdy.all_reduce {"x", "y"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A reshard doesn't move across an elementwise operation if an equal one stays: `%arg0` is gathered
// for the reduction in any case.
// CHECK-LABEL: func.func @equal_reshards
func.func @equal_reshards(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xbf16>, tensor<8xf32>, tensor<f32>) {
  // CHECK: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  // CHECK-NOT: sdy.reshard
  // CHECK: stablehlo.convert %[[RESHARD]]
  // CHECK-NEXT: stablehlo.multiply %[[RESHARD]], %[[RESHARD]]
  // CHECK-NEXT: stablehlo.reduce(%[[RESHARD]]
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.convert %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8xf32>) -> tensor<8xbf16>
  %2 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %3 = stablehlo.multiply %2, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  %4 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %1, %3, %5 : tensor<8xbf16>, tensor<8xf32>, tensor<f32>
}

// Operations on single devices share the gathered value.
// CHECK-LABEL: func.func @on_single_devices
func.func @on_single_devices(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.reshard %[[WHOLE]] <@one, []>
  // CHECK-NEXT: stablehlo.custom_call @first(%[[FIRST]])
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.reshard %[[WHOLE]] <@one, []>
  // CHECK-NEXT: stablehlo.custom_call @second(%[[SECOND]])
  // CHECK-NEXT: return %[[WHOLE]]
  %0 = sdy.reshard %arg0 <@one, []> : tensor<8xf32>
  stablehlo.custom_call @first(%0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xf32>) -> ()
  %1 = sdy.reshard %arg0 <@one, []> : tensor<8xf32>
  stablehlo.custom_call @second(%1) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xf32>) -> ()
  %2 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A single one starts from the shards.
// CHECK-LABEL: func.func @on_a_single_device
func.func @on_a_single_device(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: sdy.reshard %arg0 <@one, []>
  %0 = sdy.reshard %arg0 <@one, []> : tensor<8xf32>
  stablehlo.custom_call @first(%0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xf32>) -> ()
  return
}

// Each device computes the mask that it needs, and its broadcast.
// CHECK-LABEL: func.func @repeated
func.func @repeated() -> (tensor<8x8xi1>, tensor<4x8x8xi1>) {
  // CHECK:      %[[MASK:.*]] = stablehlo.compare {{.*}}<@mesh, [{"x"}, {}]>
  // CHECK:      %[[AGAIN:.*]] = stablehlo.compare {{.*}}<@mesh, [{}, {"y"}]>
  // CHECK-NEXT: %[[BROADCAST:.*]] = stablehlo.broadcast_in_dim %[[AGAIN]], dims = [1, 2] {{.*}}<@mesh, [{"x"}, {}, {"y"}]>
  // CHECK-NEXT: return %[[MASK]], %[[BROADCAST]]
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xi32>
  %1 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xi32>
  %2 = stablehlo.compare GE, %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<8x8xi1>) -> tensor<4x8x8xi1>
  %4 = sdy.reshard %3 <@mesh, [{"x"}, {}, {"y"}]> : tensor<4x8x8xi1>
  return %2, %4 : tensor<8x8xi1>, tensor<4x8x8xi1>
}

// An operation that says nothing is replicated: its operands are added before they are gathered.
// CHECK-LABEL: func.func @nothing_said
func.func @nothing_said(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %arg1 {{.*}}<@mesh, [{"x"}, {}]>
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.reshard %[[SUM]] <@mesh, [{}, {}]>
  // CHECK-NEXT: return %[[WHOLE]]
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
