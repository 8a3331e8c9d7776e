module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<32x32xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<32x32xf32>
    cond {
      %c_1 = stablehlo.constant dense<10> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg_0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_1 : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<32x32xf32>
    }
    return %0#1 : tensor<32x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<32x32xf32>) -> tensor<32x32xf32> {
    %0 = stablehlo.slice %arg0 [0:30, 1:31] : (tensor<32x32xf32>) -> tensor<30x30xf32>
    %1 = stablehlo.slice %arg0 [2:32, 1:31] : (tensor<32x32xf32>) -> tensor<30x30xf32>
    %2 = stablehlo.add %0, %1 : tensor<30x30xf32>
    %3 = stablehlo.slice %arg0 [1:31, 0:30] : (tensor<32x32xf32>) -> tensor<30x30xf32>
    %4 = stablehlo.add %2, %3 : tensor<30x30xf32>
    %5 = stablehlo.slice %arg0 [1:31, 2:32] : (tensor<32x32xf32>) -> tensor<30x30xf32>
    %6 = stablehlo.add %4, %5 : tensor<30x30xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<30x30xf32>
    %8 = stablehlo.divide %6, %7 : tensor<30x30xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.concatenate %9, %10, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = "stablehlo.scatter"(%arg0, %11, %8) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      stablehlo.return %arg2 : tensor<f32>
    }) : (tensor<32x32xf32>, tensor<2xi32>, tensor<30x30xf32>) -> tensor<32x32xf32>
    return %12 : tensor<32x32xf32>
  }
}
