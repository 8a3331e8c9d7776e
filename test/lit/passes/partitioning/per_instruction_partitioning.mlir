// RUN: sdy-opt %s -sdy-per-instruction-partitioning | FileCheck %s
// RUN: sdy-opt %s "-sdy-per-instruction-partitioning=filter=selectLow=1,selectHigh=1" \
// RUN:   | FileCheck %s --check-prefix=SECOND
// RUN: sdy-opt %s "-sdy-per-instruction-partitioning=filter=dot replica-count=4" \
// RUN:   | FileCheck %s --check-prefix=DOT
// RUN: not sdy-opt %s "-sdy-per-instruction-partitioning=filter=selectLow=x" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD

// BAD: error: option 'filter': 'selectLow' must be a number, got: 'x'

sdy.mesh @mesh = <["x"=2, "y"=2]>

// SECOND-LABEL: func.func @main
// SECOND: stablehlo.dot_general
// SECOND: sdy.manual_computation
// SECOND: stablehlo.negate {{.*}} : tensor<4x8xf32>
// SECOND: sdy.return
// SECOND-NOT: sdy.manual_computation
// SECOND: stablehlo.pad

// DOT-LABEL: func.func @main
// DOT: sdy.manual_computation
// DOT-NEXT: stablehlo.dot_general
// DOT: sdy.all_reduce
// DOT-NOT: sdy.manual_computation

// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> tensor<8x9xf32> {
  // What is added up behind the operation stays partial.
  // CHECK-NEXT: [[PARTIAL:%.+]] = sdy.manual_computation(%arg0, %arg1)
  // CHECK-SAME: in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>]
  // CHECK-SAME: out_shardings=[<@mesh, [{"x"}, {}], unreduced={"y"}>]
  // CHECK-SAME: manual_axes={"x", "y"} (%arg2: tensor<4x4xf32>, %arg3: tensor<4x8xf32>) {
  // CHECK-NEXT:   stablehlo.dot_general %arg2, %arg3
  // CHECK-SAME:     -> tensor<4x8xf32>
  // CHECK-NEXT:   sdy.return
  // CHECK-NEXT: }
  // CHECK-NEXT: [[SUM:%.+]] = sdy.all_reduce {"y"} [[PARTIAL]] out_sharding=<@mesh, [{"x"}, {}]>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: [[NEGATED:%.+]] = sdy.manual_computation([[SUM]])
  // CHECK-SAME: manual_axes={"x"}
  // CHECK-NEXT: stablehlo.negate
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.constant
  // CHECK-NEXT: [[PADDED:%.+]] = sdy.manual_computation([[NEGATED]], {{.*}}) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>]
  // CHECK-NEXT: stablehlo.pad
  %3 = stablehlo.pad %2, %zero, low = [0, 0], high = [0, 1], interior = [0, 0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x9xf32>
  return %3 : tensor<8x9xf32>
}

// Calls are left to whoever partitions the program.
// CHECK-LABEL: func.func @calls
// CHECK-NEXT: call @f(%arg0)
func.func @calls(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  %0 = func.call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
      : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %a : tensor<8xf32>
}

// A name that several operations refer to by different meshes is none of their own.
// CHECK-LABEL: func.func @loop
func.func @loop(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=4]>, [{"z"}]>},
                %n: tensor<i32>) -> tensor<8xf32> {
  // CHECK-NEXT: [[ONE:%.+]] = stablehlo.constant
  %one = stablehlo.constant dense<1> : tensor<i32>
  // CHECK-NEXT: [[LOOP:%.+]]:2 = sdy.manual_computation(%arg1, %arg0, [[ONE]])
  // CHECK-SAME: <mesh<["z"=4]>, [{"z"}]>
  // CHECK-SAME: (%arg2: tensor<i32>, %arg3: tensor<2xf32>, %arg4: tensor<i32>)
  // CHECK: stablehlo.while
  // CHECK: stablehlo.subtract {{.*}}, %arg4
  %0:2 = stablehlo.while(%i = %n, %p = %a) : tensor<i32>, tensor<8xf32>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<mesh<["z"=4]>, []>, <mesh<["z"=4]>, [{"z"}]>]>}
    cond {
      %more = stablehlo.compare GT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.subtract %i, %one : tensor<i32>
      %q = stablehlo.add %p, %p {sdy.sharding = #sdy.sharding_per_value<[<mesh<["z"=4]>, [{"z"}]>]>}
          : tensor<8xf32>
      stablehlo.return %next, %q : tensor<i32>, tensor<8xf32>
    }
  return %0#1 : tensor<8xf32>
}
