module @jit_loss attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg1: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg2: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg3: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg4: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg5: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<32x64xf32> {jax.result_info = "result[0][0]"}, tensor<64x16xf32> {jax.result_info = "result[0][1]"}, tensor<32x64xf32> {jax.result_info = "result[1][0]"}, tensor<64x16xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
    %1 = call @relu(%0) : (tensor<32x64xf32>) -> tensor<32x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %3 = stablehlo.compare GT, %0, %2, FLOAT : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xi1>
    %4 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
    %5:2 = call @norm(%4) : (tensor<32x16xf32>) -> (tensor<32x1xf32>, tensor<32x1xf32>)
    %6 = stablehlo.broadcast_in_dim %5#0, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x16xf32>
    %7 = stablehlo.divide %4, %6 : tensor<32x16xf32>
    %8 = stablehlo.multiply %5#0, %5#0 : tensor<32x1xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %10 = stablehlo.divide %9, %8 : tensor<32x1xf32>
    %11 = stablehlo.dot_general %arg5, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
    %12 = call @relu(%11) : (tensor<32x64xf32>) -> tensor<32x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %14 = stablehlo.compare GT, %11, %13, FLOAT : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xi1>
    %15 = stablehlo.dot_general %12, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
    %16:2 = call @norm(%15) : (tensor<32x16xf32>) -> (tensor<32x1xf32>, tensor<32x1xf32>)
    %17 = stablehlo.broadcast_in_dim %16#0, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x16xf32>
    %18 = stablehlo.divide %15, %17 : tensor<32x16xf32>
    %19 = stablehlo.multiply %16#0, %16#0 : tensor<32x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %21 = stablehlo.divide %20, %19 : tensor<32x1xf32>
    %22 = stablehlo.transpose %18, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %23 = stablehlo.dot_general %7, %22, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
    %24:2 = call @log_softmax(%23) : (tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x1xf32>)
    %25:3 = call @_diag() : () -> (tensor<i32>, tensor<32x32xf32>, tensor<32x2xi32>)
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.negate %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %27 = stablehlo.divide %26, %cst_4 : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %29 = call @_diag_0(%25#0, %25#1, %25#2, %28) : (tensor<i32>, tensor<32x32xf32>, tensor<32x2xi32>, tensor<32xf32>) -> tensor<32x32xf32>
    %30 = call @log_softmax_2(%24#0, %24#1, %29) : (tensor<32x32xf32>, tensor<32x1xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %31 = stablehlo.dot_general %30, %7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
    %32 = stablehlo.transpose %31, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %33 = stablehlo.dot_general %30, %22, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<16x32xf32>) -> tensor<32x16xf32>
    %34 = stablehlo.transpose %32, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %35 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x16xf32>
    %36 = stablehlo.multiply %34, %35 : tensor<32x16xf32>
    %37 = stablehlo.multiply %36, %15 : tensor<32x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<32xf32>
    %39 = stablehlo.reshape %38 : (tensor<32xf32>) -> tensor<32x1xf32>
    %40 = stablehlo.negate %39 : tensor<32x1xf32>
    %41 = stablehlo.broadcast_in_dim %16#0, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x16xf32>
    %42 = stablehlo.divide %34, %41 : tensor<32x16xf32>
    %43 = call @norm_3(%15, %16#1, %40) : (tensor<32x16xf32>, tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<32x16xf32>
    %44 = stablehlo.add %42, %43 : tensor<32x16xf32>
    %45 = stablehlo.dot_general %44, %12, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    %46 = stablehlo.transpose %45, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %47 = stablehlo.dot_general %44, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<64x16xf32>) -> tensor<32x64xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %49 = stablehlo.select %14, %47, %48 : tensor<32x64xi1>, tensor<32x64xf32>
    %50 = stablehlo.dot_general %49, %arg5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    %51 = stablehlo.transpose %50, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %52 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x16xf32>
    %53 = stablehlo.multiply %33, %52 : tensor<32x16xf32>
    %54 = stablehlo.multiply %53, %4 : tensor<32x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.reduce(%54 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<32xf32>
    %56 = stablehlo.reshape %55 : (tensor<32xf32>) -> tensor<32x1xf32>
    %57 = stablehlo.negate %56 : tensor<32x1xf32>
    %58 = stablehlo.broadcast_in_dim %5#0, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x16xf32>
    %59 = stablehlo.divide %33, %58 : tensor<32x16xf32>
    %60 = call @norm_3(%4, %5#1, %57) : (tensor<32x16xf32>, tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<32x16xf32>
    %61 = stablehlo.add %59, %60 : tensor<32x16xf32>
    %62 = stablehlo.dot_general %61, %1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    %63 = stablehlo.transpose %62, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %64 = stablehlo.dot_general %61, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<64x16xf32>) -> tensor<32x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %66 = stablehlo.select %3, %64, %65 : tensor<32x64xi1>, tensor<32x64xf32>
    %67 = stablehlo.dot_general %66, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    %68 = stablehlo.transpose %67, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    return %68, %63, %51, %46 : tensor<32x64xf32>, tensor<64x16xf32>, tensor<32x64xf32>, tensor<64x16xf32>
  }
  func.func private @relu(%arg0: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<32x64xf32>
    return %1 : tensor<32x64xf32>
  }
  func.func private @norm(%arg0: tensor<32x16xf32>) -> (tensor<32x1xf32>, tensor<32x1xf32>) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<32x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %3 = stablehlo.sqrt %2 : tensor<32x1xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %5 = stablehlo.divide %4, %3 : tensor<32x1xf32>
    return %3, %5 : tensor<32x1xf32>, tensor<32x1xf32>
  }
  func.func private @log_softmax(%arg0: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<32xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x32xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<32x32xf32>
    %6 = stablehlo.exponential %5 : tensor<32x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    return %6, %8 : tensor<32x32xf32>, tensor<32x1xf32>
  }
  func.func private @_diag() -> (tensor<i32>, tensor<32x32xf32>, tensor<32x2xi32>) {
    %0:3 = call @diagonal() : () -> (tensor<i32>, tensor<32x32xf32>, tensor<32x2xi32>)
    return %0#0, %0#1, %0#2 : tensor<i32>, tensor<32x32xf32>, tensor<32x2xi32>
  }
  func.func private @diagonal() -> (tensor<i32>, tensor<32x32xf32>, tensor<32x2xi32>) {
    %0 = stablehlo.iota dim = 0 : tensor<32x32xi32>
    %1 = stablehlo.iota dim = 1 : tensor<32x32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x32xi32>
    %3 = stablehlo.add %0, %2 : tensor<32x32xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
    %5 = stablehlo.convert %4 : (tensor<32x32xi1>) -> tensor<32x32xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7:2 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<32xi32>
      %9 = stablehlo.iota dim = 0 : tensor<32xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<32xi32>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
      %c_2 = stablehlo.constant dense<32> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<32xi32>
      %13 = stablehlo.add %8, %12 : tensor<32xi32>
      %14 = stablehlo.select %11, %13, %8 : tensor<32xi1>, tensor<32xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<32xi32>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
      %c_4 = stablehlo.constant dense<32> : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<32xi32>
      %18 = stablehlo.add %9, %17 : tensor<32xi32>
      %19 = stablehlo.select %16, %18, %9 : tensor<32xi1>, tensor<32xi32>
      %20 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
      %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
      %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<32x1xi32>, tensor<32x1xi32>) -> tensor<32x2xi32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %23 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
      stablehlo.return %23, %22 : tensor<32x32xf32>, tensor<32x2xi32>
    }) : (tensor<i32>) -> (tensor<32x32xf32>, tensor<32x2xi32>)
    return %c_0, %7#0, %7#1 : tensor<i32>, tensor<32x32xf32>, tensor<32x2xi32>
  }
  func.func private @_diag_0(%arg0: tensor<i32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x2xi32>, %arg3: tensor<32xf32>) -> tensor<32x32xf32> {
    %0 = call @diagonal_1(%arg0, %arg1, %arg2, %arg3) : (tensor<i32>, tensor<32x32xf32>, tensor<32x2xi32>, tensor<32xf32>) -> tensor<32x32xf32>
    return %0 : tensor<32x32xf32>
  }
  func.func private @diagonal_1(%arg0: tensor<i32>, %arg1: tensor<32x32xf32>, %arg2: tensor<32x2xi32>, %arg3: tensor<32xf32>) -> tensor<32x32xf32> {
    %0 = "stablehlo.case"(%arg0) ({
      %c = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
      %3 = "stablehlo.scatter"(%2, %arg2, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %4 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }) : (tensor<32x32xf32>, tensor<32x2xi32>, tensor<32xf32>) -> tensor<32x32xf32>
      stablehlo.return %3 : tensor<32x32xf32>
    }) : (tensor<i32>) -> tensor<32x32xf32>
    return %1 : tensor<32x32xf32>
  }
  func.func private @log_softmax_2(%arg0: tensor<32x32xf32>, %arg1: tensor<32x1xf32>, %arg2: tensor<32x32xf32>) -> tensor<32x32xf32> {
    %0 = stablehlo.negate %arg2 : tensor<32x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.reshape %1 : (tensor<32xf32>) -> tensor<32x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<32x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<32x1xf32>, tensor<f32>) -> tensor<32xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<32xf32>) -> tensor<32x32xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<32x32xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<32x32xf32>
    return %7 : tensor<32x32xf32>
  }
  func.func private @norm_3(%arg0: tensor<32x16xf32>, %arg1: tensor<32x1xf32>, %arg2: tensor<32x1xf32>) -> tensor<32x16xf32> {
    %0 = stablehlo.multiply %arg2, %arg1 : tensor<32x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x1xf32>, tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<32xf32>) -> tensor<32x16xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<32x16xf32>
    %4 = stablehlo.multiply %2, %arg0 : tensor<32x16xf32>
    %5 = stablehlo.add %3, %4 : tensor<32x16xf32>
    return %5 : tensor<32x16xf32>
  }
}
