module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<16x32xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<16x32xi32>
    %1 = stablehlo.iota dim = 0 : tensor<32xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<32xi32>) -> tensor<1x32xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x32xi32>) -> tensor<16x32xi32>
    %4 = stablehlo.compare GT, %0, %3, SIGNED : (tensor<16x32xi32>, tensor<16x32xi32>) -> tensor<16x32xi1>
    %5 = stablehlo.iota dim = 0 : tensor<16x32xi32>
    %6 = stablehlo.iota dim = 1 : tensor<16x32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x32xi32>
    %8 = stablehlo.add %5, %7 : tensor<16x32xi32>
    %9 = stablehlo.compare EQ, %8, %6, SIGNED : (tensor<16x32xi32>, tensor<16x32xi32>) -> tensor<16x32xi1>
    %10 = stablehlo.convert %9 : (tensor<16x32xi1>) -> tensor<16x32xf32>
    %11 = call @_where(%4, %arg0, %10) : (tensor<16x32xi1>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %12 = stablehlo.iota dim = 0 : tensor<16x32xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x32xi32>
    %14 = stablehlo.add %12, %13 : tensor<16x32xi32>
    %15 = stablehlo.iota dim = 1 : tensor<16x32xi32>
    %16 = stablehlo.compare GE, %14, %15, SIGNED : (tensor<16x32xi32>, tensor<16x32xi32>) -> tensor<16x32xi1>
    %17 = stablehlo.convert %16 : (tensor<16x32xi1>) -> tensor<16x32xf32>
    %18 = stablehlo.add %11, %17 : tensor<16x32xf32>
    return %18 : tensor<16x32xf32>
  }
  func.func private @_where(%arg0: tensor<16x32xi1>, %arg1: tensor<16x32xf32>, %arg2: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<16x32xi1>, tensor<16x32xf32>
    return %0 : tensor<16x32xf32>
  }
}
