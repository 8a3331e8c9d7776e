module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<16x32xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<16x32xf32>, tensor<i32>) -> tensor<18x32xf32>
    %1 = stablehlo.slice %0 [2:18, 0:32] : (tensor<18x32xf32>) -> tensor<16x32xf32>
    %2 = call @_roll_static(%arg0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %3 = stablehlo.add %1, %2 : tensor<16x32xf32>
    %4 = stablehlo.slice %0 [0:16, 0:32] : (tensor<18x32xf32>) -> tensor<16x32xf32>
    %5 = stablehlo.subtract %3, %4 : tensor<16x32xf32>
    %6 = call @_roll_static_0(%arg0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %7 = stablehlo.add %5, %6 : tensor<16x32xf32>
    return %7 : tensor<16x32xf32>
  }
  func.func private @_pad(%arg0: tensor<16x32xf32>, %arg1: tensor<i32>) -> tensor<18x32xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<16x32xf32>, tensor<f32>) -> tensor<18x32xf32>
    return %1 : tensor<18x32xf32>
  }
  func.func private @_roll_static(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %0 = stablehlo.slice %arg0 [13:16, 0:32] : (tensor<16x32xf32>) -> tensor<3x32xf32>
    %1 = stablehlo.slice %arg0 [0:13, 0:32] : (tensor<16x32xf32>) -> tensor<13x32xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x32xf32>, tensor<13x32xf32>) -> tensor<16x32xf32>
    return %2 : tensor<16x32xf32>
  }
  func.func private @_roll_static_0(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %0 = stablehlo.slice %arg0 [0:16, 31:32] : (tensor<16x32xf32>) -> tensor<16x1xf32>
    %1 = stablehlo.slice %arg0 [0:16, 0:31] : (tensor<16x32xf32>) -> tensor<16x31xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<16x1xf32>, tensor<16x31xf32>) -> tensor<16x32xf32>
    return %2 : tensor<16x32xf32>
  }
}
