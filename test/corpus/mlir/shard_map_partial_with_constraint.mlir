module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x16xf32>) -> (tensor<8x16xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data", ?}, {?}]>] out_shardings=[<@mesh, [{"data", ?}, {?}]>] manual_axes={"data"} (%arg1: tensor<4x16xf32>) {
      %3 = sdy.sharding_constraint %arg1 <@mesh, [{}, {"model"}]> : tensor<4x16xf32>
      %4 = stablehlo.sine %3 : tensor<4x16xf32>
      %5 = sdy.sharding_constraint %4 <@mesh, [{?}, {?}]> : tensor<4x16xf32>
      %6 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] manual_axes={"model"} () {
        %c = stablehlo.constant dense<4> : tensor<ui32>
        %c_0 = stablehlo.constant dense<2> : tensor<ui32>
        %13 = stablehlo.partition_id : tensor<ui32>
        %14 = stablehlo.divide %13, %c : tensor<ui32>
        %15 = stablehlo.remainder %14, %c_0 : tensor<ui32>
        %16 = stablehlo.convert %15 : (tensor<ui32>) -> tensor<i32>
        sdy.return %16 : tensor<i32>
      } : () -> tensor<i32>
      %7 = stablehlo.convert %6 : (tensor<i32>) -> tensor<f32>
      %8 = sdy.sharding_constraint %7 <@mesh, []> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
      %10 = sdy.sharding_constraint %9 <@mesh, [{?}, {?}]> : tensor<4x16xf32>
      %11 = stablehlo.add %5, %10 : tensor<4x16xf32>
      %12 = sdy.sharding_constraint %11 <@mesh, [{?}, {?}]> : tensor<4x16xf32>
      sdy.return %12 : tensor<4x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<8x16xf32>
    return %2 : tensor<8x16xf32>
  }
}
