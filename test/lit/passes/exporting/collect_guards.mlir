// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-collect-guards | FileCheck %s
// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-collect-guards=uneven=guard | FileCheck %s --check-prefix=GUARD
// RUN: sdy-opt %s --sdy-dynamic-to-static=sizes=x0:8,s:4 --sdy-collect-guards | FileCheck %s --check-prefix=STATIC
// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-collect-guards="uneven=guard assertions=true" | FileCheck %s --check-prefix=ASSERT
// RUN: not sdy-opt %s --sdy-propagation-pipeline --sdy-collect-guards="uneven=guard assertions=true" --sdy-dynamic-to-static=sizes=x0:7,s:4 2>&1 | FileCheck %s --check-prefix=UNEVEN

// CHECK: sdy.guards = ["2 divides x0: padded; dimension 0 of %x ({{.*}}collect_guards.mlir:[[# @LINE + 18]]:5) is sharded along \22data\22",
// CHECK-SAME: "4 divides 4*s: proven; dimension 1 of %x
// CHECK-SAME: "y0 == x0: checked at run time; 'stablehlo.add' op at
// CHECK-SAME: "y1 == 4*s: checked at run time; 'stablehlo.add' op at
// CHECK-SAME: "x0 is even: checked at run time; an assertion at
// GUARD: sdy.guards = ["2 divides x0: checked at run time;
// STATIC-NOT: sdy.guards
// ASSERT: %[[SUM:.*]] = stablehlo.add
// ASSERT: %[[ROWS:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
// ASSERT: %[[REST:.*]] = stablehlo.remainder %[[ROWS]],
// ASSERT: %[[EVEN:.*]] = stablehlo.compare EQ, %[[REST]],
// ASSERT: stablehlo.custom_call @shape_assertion(%[[EVEN]]) {{.*}}error_message = "2 divides x0: checked at run time;
// ASSERT: error_message = "4 divides 4*s: checked at run time; dimension 1 of %x
// ASSERT: error_message = "dimension 0 of %y has the size of dimension 0 of %x"
// ASSERT: error_message = "dimension 1 of %y has the size of dimension 1 of %x"
// UNEVEN: error: the program doesn't fit the sizes x0 = 7, s = 4: x0 is even

func.func @main(
    %x: tensor<?x?xf32> {
      sdy.sizes = ["", "4*s"],
      sdy.sharding = #sdy.sharding<mesh<["data"=2, "model"=4]>, [{"data"}, {"model"}]>},
    %y: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %rest = stablehlo.remainder %size, %two : tensor<i32>
  %even = stablehlo.compare EQ, %rest, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%even, %size) {
    api_version = 2 : i32, error_message = "x0 is even", has_side_effect = true}
    : (tensor<i1>, tensor<i32>) -> ()
  %0 = stablehlo.add %x, %y : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
