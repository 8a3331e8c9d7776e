module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=4, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 4 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<21x24xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<7> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<16x24xf32>, tensor<i32>) -> tensor<21x24xf32>
    return %0 : tensor<21x24xf32>
  }
  func.func private @_pad(%arg0: tensor<16x24xf32>, %arg1: tensor<i32>) -> tensor<21x24xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [2, 0], high = [3, 0], interior = [0, 0] : (tensor<16x24xf32>, tensor<f32>) -> tensor<21x24xf32>
    return %1 : tensor<21x24xf32>
  }
}
