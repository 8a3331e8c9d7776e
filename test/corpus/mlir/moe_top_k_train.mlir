module @jit_loss attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "expert"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "expert", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<8x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}, {}]>}, %arg2: tensor<8x64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}, {}, {}]>}, %arg3: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<32x8xf32> {jax.result_info = "result[0]"}, tensor<8x32x64xf32> {jax.result_info = "result[1]"}, tensor<8x64x32xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<64xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<64x8xf32>
    %7 = stablehlo.exponential %6 : tensor<64x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %11 = stablehlo.divide %7, %10 : tensor<64x8xf32>
    %12 = stablehlo.multiply %9, %9 : tensor<64x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x1xf32>
    %14 = stablehlo.divide %13, %12 : tensor<64x1xf32>
    %values, %indices = chlo.top_k(%11, k = 1) : tensor<64x8xf32> -> (tensor<64x1xf32>, tensor<64x1xi32>)
    %15 = stablehlo.reshape %indices : (tensor<64x1xi32>) -> tensor<64x1x1xi32>
    %16 = stablehlo.reshape %indices : (tensor<64x1xi32>) -> tensor<64xi32>
    %17 = call @_one_hot(%16) : (tensor<64xi32>) -> tensor<64x8xf32>
    %18 = stablehlo.dot_general %arg3, %17, batching_dims = [0] x [0], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<64x32xf32>, tensor<64x8xf32>) -> tensor<64x32x8xf32>
    %19 = stablehlo.transpose %18, dims = [2, 0, 1] : (tensor<64x32x8xf32>) -> tensor<8x64x32xf32>
    %20 = stablehlo.dot_general %19, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x32xf32>, tensor<8x32x64xf32>) -> tensor<8x64x64xf32>
    %21 = call @relu(%20) : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x64x64xf32>
    %23 = stablehlo.compare GT, %20, %22, FLOAT : (tensor<8x64x64xf32>, tensor<8x64x64xf32>) -> tensor<8x64x64xi1>
    %24 = stablehlo.dot_general %21, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x64xf32>, tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
    %25 = stablehlo.broadcast_in_dim %values, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %26 = stablehlo.multiply %17, %25 : tensor<64x8xf32>
    %27 = stablehlo.dot_general %24, %26, batching_dims = [1] x [0], contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x32xf32>, tensor<64x8xf32>) -> tensor<64x32xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %29 = stablehlo.multiply %28, %27 : tensor<64x32xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<2.048000e+03> : tensor<f32>
    %30 = stablehlo.divide %cst_5, %cst_6 : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %32 = stablehlo.multiply %31, %29 : tensor<64x32xf32>
    %33 = stablehlo.dot_general %32, %24, batching_dims = [0] x [1], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x32xf32>, tensor<8x64x32xf32>) -> tensor<64x8xf32>
    %34 = stablehlo.dot_general %32, %26, batching_dims = [0] x [0], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<64x32xf32>, tensor<64x8xf32>) -> tensor<64x32x8xf32>
    %35 = stablehlo.transpose %34, dims = [2, 0, 1] : (tensor<64x32x8xf32>) -> tensor<8x64x32xf32>
    %36 = stablehlo.multiply %17, %33 : tensor<64x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %38 = stablehlo.reshape %37 : (tensor<64xf32>) -> tensor<64x1xf32>
    %39 = stablehlo.dot_general %35, %21, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x32xf32>, tensor<8x64x64xf32>) -> tensor<8x32x64xf32>
    %40 = stablehlo.transpose %39, dims = [0, 2, 1] : (tensor<8x32x64xf32>) -> tensor<8x64x32xf32>
    %41 = stablehlo.dot_general %35, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x64x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x64x64xf32>
    %43 = stablehlo.select %23, %41, %42 : tensor<8x64x64xi1>, tensor<8x64x64xf32>
    %44 = stablehlo.dot_general %43, %19, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x64xf32>, tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
    %45 = stablehlo.transpose %44, dims = [0, 2, 1] : (tensor<8x64x32xf32>) -> tensor<8x32x64xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<64x8xf32>
    %47 = "stablehlo.scatter"(%46, %15, %38) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %62 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %62 : tensor<f32>
    }) : (tensor<64x8xf32>, tensor<64x1x1xi32>, tensor<64x1xf32>) -> tensor<64x8xf32>
    %48 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %49 = stablehlo.multiply %47, %48 : tensor<64x8xf32>
    %50 = stablehlo.multiply %49, %7 : tensor<64x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%50 init: %cst_10) applies stablehlo.add across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %52 = stablehlo.reshape %51 : (tensor<64xf32>) -> tensor<64x1xf32>
    %53 = stablehlo.negate %52 : tensor<64x1xf32>
    %54 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %55 = stablehlo.divide %47, %54 : tensor<64x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.reduce(%53 init: %cst_11) applies stablehlo.add across dimensions = [1] : (tensor<64x1xf32>, tensor<f32>) -> tensor<64xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0] : (tensor<64xf32>) -> tensor<64x8xf32>
    %58 = stablehlo.add %55, %57 : tensor<64x8xf32>
    %59 = stablehlo.multiply %58, %7 : tensor<64x8xf32>
    %60 = stablehlo.dot_general %59, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x8xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %61 = stablehlo.transpose %60, dims = [1, 0] : (tensor<8x32xf32>) -> tensor<32x8xf32>
    return %61, %45, %40 : tensor<32x8xf32>, tensor<8x32x64xf32>, tensor<8x64x32xf32>
  }
  func.func private @_one_hot(%arg0: tensor<64xi32>) -> tensor<64x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<64xi32>) -> tensor<64x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x8xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<64x1xi32>) -> tensor<64x8xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<64x8xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<64x8xi32>, tensor<64x8xi32>) -> tensor<64x8xi1>
    %5 = stablehlo.convert %4 : (tensor<64x8xi1>) -> tensor<64x8xf32>
    return %5 : tensor<64x8xf32>
  }
  func.func private @relu(%arg0: tensor<8x64x64xf32>) -> tensor<8x64x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x64x64xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<8x64x64xf32>
    return %1 : tensor<8x64x64xf32>
  }
}
