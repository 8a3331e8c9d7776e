// RUN: sdy-opt %s -sdy-resolve-single-device-sharding -split-input-file | FileCheck %s
// RUN: sdy-opt %s "-sdy-resolve-single-device-sharding=replica-count=2" -split-input-file \
// RUN:   | FileCheck %s --check-prefix=REPLICAS

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @device_1 = <[], device_ids=[1]>

// CHECK-LABEL: func.func @floats
// REPLICAS-LABEL: func.func @floats
func.func @floats(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: [[ID:%.+]] = stablehlo.partition_id
  // REPLICAS-NEXT: stablehlo.replica_id
  // CHECK-NEXT: [[DEVICE:%.+]] = stablehlo.convert [[ID]]
  // CHECK-NEXT: [[WANTED:%.+]] = stablehlo.constant dense<1> : tensor<i64>
  // CHECK-NEXT: [[HERE:%.+]] = stablehlo.compare EQ, [[DEVICE]], [[WANTED]]
  // CHECK-NEXT: [[FIRST:%.+]] = "stablehlo.if"([[HERE]]) ({
  // CHECK-NEXT:   [[NEGATED:%.+]] = stablehlo.negate %arg0 : tensor<8xf32>
  // CHECK-NEXT:   stablehlo.return [[NEGATED]]
  // CHECK-NEXT: }, {
  // CHECK-NEXT:   [[ZEROS:%.+]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
  // CHECK-NEXT:   stablehlo.return [[ZEROS]]
  // CHECK-NOT: all_reduce
  // CHECK:      [[SECOND:%.+]] = "stablehlo.if"
  // CHECK-NEXT:   stablehlo.abs [[FIRST]]
  // CHECK:      [[BITS:%.+]] = stablehlo.bitcast_convert [[SECOND]]
  // CHECK-NEXT: [[SUM:%.+]] = sdy.all_reduce {"x"} [[BITS]] out_sharding=<@mesh, [{}]>
  // CHECK-NEXT: [[RESULT:%.+]] = stablehlo.bitcast_convert [[SUM]]
  // CHECK-NEXT: return [[RESULT]]
  %0 = sdy.reshard %arg0 <@device_1, []> : tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>}
      : tensor<8xf32>
  %2 = stablehlo.abs %1 {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>}
      : tensor<8xf32>
  %3 = sdy.reshard %2 <@mesh, [{}]> : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK-LABEL: func.func @tokens
func.func @tokens(%arg0: tensor<i8>, %arg1: !stablehlo.token) -> (!stablehlo.token, tensor<i8>) {
  // CHECK: [[BOTH:%.+]]:2 = "stablehlo.if"
  // CHECK-NEXT: stablehlo.custom_call @read(%arg0, %arg1)
  // CHECK: [[NONE:%.+]] = stablehlo.after_all
  // CHECK: stablehlo.return [[NONE]], {{.*}} : !stablehlo.token, tensor<i8>
  // CHECK: [[SUM:%.+]] = sdy.all_reduce {"x"} [[BOTH]]#1
  // CHECK-NEXT: return [[BOTH]]#0, [[SUM]]
  %0:2 = stablehlo.custom_call @read(%arg0, %arg1)
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@device_1, []>]>}
      : (tensor<i8>, !stablehlo.token) -> (!stablehlo.token, tensor<i8>)
  return %0#0, %0#1 : !stablehlo.token, tensor<i8>
}

// -----

// Without a mesh of several devices there is nobody to tell.

sdy.mesh @device_0 = <[], device_ids=[0]>

// CHECK-LABEL: func.func @alone
// CHECK-NEXT: stablehlo.negate %arg0 {sdy.sharding
func.func @alone(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>]>}
      : tensor<8xf32>
  return %0 : tensor<8xf32>
}
