module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=4, "columns"=2]> {stablehlo.mesh = {axes = [{name = "rows", size = 4 : i64}, {name = "columns", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}, {"columns"}]>}, %arg1: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"rows"}]>}) -> (tensor<64xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %cst = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %3 = stablehlo.divide %1, %2 : tensor<64x64xf32>
    %4 = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %5 = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x64xi32>
    %7 = stablehlo.add %4, %6 : tensor<64x64xi32>
    %8 = stablehlo.compare EQ, %7, %5, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %9 = stablehlo.convert %8 : (tensor<64x64xi1>) -> tensor<64x64xf32>
    %10 = stablehlo.add %3, %9 : tensor<64x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %12:5 = stablehlo.while(%iterArg = %10, %iterArg_2 = %c_1, %iterArg_3 = %11, %iterArg_4 = %arg1, %iterArg_5 = %arg1) : tensor<64x64xf32>, tensor<i32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
    cond {
      %c_6 = stablehlo.constant dense<8> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_2, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %13:3 = func.call @closed_call(%iterArg, %iterArg_3, %iterArg_4, %iterArg_5) : (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %iterArg_2, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %14, %13#0, %13#1, %13#2 : tensor<64x64xf32>, tensor<i32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    return %12#2 : tensor<64xf32>
  }
  func.func private @closed_call(%arg0: tensor<64x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %1 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
    %2 = stablehlo.dot_general %arg3, %0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
    %3 = stablehlo.divide %1, %2 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %5 = stablehlo.multiply %4, %0 : tensor<64xf32>
    %6 = stablehlo.subtract %arg2, %5 : tensor<64xf32>
    %7 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %8 = stablehlo.multiply %7, %arg3 : tensor<64xf32>
    %9 = stablehlo.add %arg1, %8 : tensor<64xf32>
    %10 = stablehlo.dot_general %6, %6, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
    %11 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32>
    %12 = stablehlo.divide %10, %11 : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %14 = stablehlo.multiply %13, %arg3 : tensor<64xf32>
    %15 = stablehlo.add %6, %14 : tensor<64xf32>
    return %9, %6, %15 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
}
