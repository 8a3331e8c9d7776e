// RUN: sdy-opt %s "-sdy-insert-explicit-reshards=enable-full-version=true" | FileCheck %s
// RUN: sdy-opt %s -sdy-insert-explicit-reshards | FileCheck %s --check-prefix=CALLS

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @dot
// CALLS-LABEL: func.func @dot
// CALLS-NOT: reshard
// CALLS: return
func.func @dot(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
    %arg1: tensor<16x8xf32>)
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>
  // CHECK-NEXT: %[[RESHARD_1:.*]] = sdy.reshard %arg1 <@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  // CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %[[RESHARD]], %[[RESHARD_1]], contracting_dims = [1] x [0]
  // CHECK-NEXT: %[[ALL_REDUCE:.*]] = sdy.all_reduce {"y"} %[[DOT]] out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[ALL_REDUCE]]
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Most tensors are sharded by rows already, and the function's result asks for another one.
// CHECK-LABEL: func.func @add
func.func @add(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK-NEXT: %[[RESHARD:.*]] = sdy.reshard %arg1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %arg0, %[[RESHARD]]
  // CHECK-NEXT: %[[RESHARD_1:.*]] = sdy.reshard %[[ADD]] <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[RESHARD_1]]
  %0 = stablehlo.add %arg0, %arg1
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A maximum is completed by a maximum, and a sum by a sum, wherever it begins.
// CHECK-LABEL: func.func @reductions
func.func @reductions(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
    -> (tensor<8xf32>, tensor<8xf32>) {
  %init = stablehlo.constant dense<1.0> : tensor<f32>
  // CHECK: [[MAX:%.+]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.maximum
  // CHECK-NEXT: [[WHOLE_MAX:%.+]] = sdy.all_reduce max {"y"} [[MAX]]
  %0 = stablehlo.reduce(%arg0 init: %init) applies stablehlo.maximum across dimensions = [1]
    : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK-NEXT: [[SUM:%.+]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add
  // CHECK-NEXT: [[WHOLE_SUM:%.+]] = sdy.all_reduce {"y"} [[SUM]]
  // CHECK-NEXT: return [[WHOLE_MAX]], [[WHOLE_SUM]]
  %1 = stablehlo.reduce(%arg0 init: %init) applies stablehlo.add across dimensions = [1]
    : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// An operation without a rule is left to another partitioner.
// CHECK-LABEL: func.func @no_rule
func.func @no_rule(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: %[[CUSTOM_CALL:.*]] = stablehlo.custom_call @unheard_of(%arg0)
  // CHECK-SAME: sdy.sharding_per_value<[<@mesh, [{"x"}]>]>
  // CHECK-NEXT: return %[[CUSTOM_CALL]]
  %0 = stablehlo.custom_call @unheard_of(%arg0)
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Values flow in and out of a loop in one sharding.
// CHECK-LABEL: func.func @loop
func.func @loop(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: [[START:%.+]] = sdy.reshard %arg0 <@mesh, [{"y"}]>
  // CHECK: stablehlo.while(%{{.*}} = [[START]])
  %0 = stablehlo.while(%carried = %arg0) : tensor<8xf32>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} cond {
    stablehlo.return %true : tensor<i1>
  } do {
    // CHECK: [[NEXT:%.+]] = stablehlo.negate
    // CHECK-NEXT: [[BACK:%.+]] = sdy.reshard [[NEXT]] <@mesh, [{"y"}]>
    // CHECK-NEXT: stablehlo.return [[BACK]]
    %1 = sdy.reshard %carried <@mesh, [{"x"}]> : tensor<8xf32>
    %2 = stablehlo.negate %1
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }
  // CHECK: [[WHOLE:%.+]] = sdy.reshard %{{.*}} <@mesh, [{}]>
  // CHECK-NEXT: return [[WHOLE]]
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @caller
// CALLS-LABEL: func.func @caller
func.func @caller(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: [[OPERAND:%.+]] = sdy.reshard %arg0 <@mesh, [{"y"}]>
  // CHECK-NEXT: call @callee([[OPERAND]])
  // CALLS-NEXT: [[OPERAND:%.+]] = sdy.reshard %arg0 <@mesh, [{"y"}]>
  // CALLS-NEXT: call @callee([[OPERAND]])
  call @callee(%arg0) : (tensor<8xf32>) -> ()
  return
}

func.func private @callee(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  return
}

sdy.mesh @single = <[], device_ids=[0]>

// What only has effects is brought to its device in the full version, and left alone otherwise.
// CHECK-LABEL: func.func @effect_on_a_device
// CALLS-LABEL: func.func @effect_on_a_device
func.func @effect_on_a_device(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: [[WHOLE:%.+]] = sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK-NEXT: [[THERE:%.+]] = sdy.reshard [[WHOLE]] <@single, []>
  // CHECK-NEXT: stablehlo.custom_call @log([[THERE]])
  // CALLS-NEXT: stablehlo.custom_call @log(%arg0)
  stablehlo.custom_call @log(%arg0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@single, []>]>} : (tensor<8xf32>) -> ()
  return
}

// Each device calls this one with its shard.
// CHECK-LABEL: func.func @callback_on_shards
func.func @callback_on_shards(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: stablehlo.custom_call @xla_ffi_partitioned_python_cpu_callback(%arg0)
  stablehlo.custom_call @xla_ffi_partitioned_python_cpu_callback(%arg0) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@single, []>]>} : (tensor<8xf32>) -> ()
  return
}
