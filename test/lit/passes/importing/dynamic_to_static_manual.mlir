// RUN: sdy-opt %s --sdy-dynamic-to-static=sizes=b:16 | FileCheck %s

// Bodies of manual computations are refined, with the sizes that they have locally.

module attributes {sdy.symbols = {b = {multiple_of = 8}}} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>

  // CHECK-LABEL: func.func @main
  func.func @main(%n: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x8xf32> {sdy.sizes = ["b", ""]},
      %k: tensor<f32>) -> tensor<?x8xf32> {
    // CHECK: sdy.manual_computation(%{{.*}}, %{{.*}}, %{{.*}}) in_shardings=[<@mesh, []>, <@mesh, [{"x", ?}, {?}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%{{.*}}: tensor<i32>, %[[X:.*]]: tensor<8x8xf32>, %[[K:.*]]: tensor<f32>)
    %0 = sdy.manual_computation(%n, %x, %k)
        in_shardings=[<@mesh, []>, <@mesh, [{"x", ?}, {?}]>, <@mesh, []>]
        out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"}
        (%m: tensor<i32>, %a: tensor<?x8xf32>, %s: tensor<f32>) {
      // CHECK: stablehlo.broadcast_in_dim %[[K]], dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %1 = stablehlo.divide %m, %two : tensor<i32>
      %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
      %3 = stablehlo.constant dense<8> : tensor<1xi32>
      %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %5 = stablehlo.dynamic_broadcast_in_dim %s, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
      %6 = stablehlo.add %a, %5 : tensor<?x8xf32>
      // CHECK: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"y"} (%{{.*}}: tensor<2x8xf32>)
      %7 = sdy.manual_computation(%6) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>]
          manual_axes={"y"} (%c: tensor<?x8xf32>) {
        // CHECK: stablehlo.tanh %{{.*}} : tensor<2x8xf32>
        %8 = stablehlo.tanh %c : tensor<?x8xf32>
        sdy.return %8 : tensor<?x8xf32>
      } : (tensor<?x8xf32>) -> tensor<?x8xf32>
      // CHECK: sdy.return %{{.*}} : tensor<8x8xf32>
      sdy.return %7 : tensor<?x8xf32>
    // CHECK: } : (tensor<i32>, tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
    } : (tensor<i32>, tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
}
