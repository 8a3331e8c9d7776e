module @jit_run attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}]>}) -> (tensor<8x16x32xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<8x16x32xf32>) -> tensor<8x16x17xcomplex<f32>>
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<8x16x17xcomplex<f32>>
    %2 = stablehlo.multiply %0, %1 : tensor<8x16x17xcomplex<f32>>
    %3 = call @fft_0(%2) : (tensor<8x16x17xcomplex<f32>>) -> tensor<8x16x32xf32>
    %4 = call @fft_1(%arg0) : (tensor<8x16x32xf32>) -> tensor<8x16x32xcomplex<f32>>
    %5 = stablehlo.real %4 : (tensor<8x16x32xcomplex<f32>>) -> tensor<8x16x32xf32>
    %6 = stablehlo.add %3, %5 : tensor<8x16x32xf32>
    return %6 : tensor<8x16x32xf32>
  }
  func.func private @fft(%arg0: tensor<8x16x32xf32>) -> tensor<8x16x17xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [32] : (tensor<8x16x32xf32>) -> tensor<8x16x17xcomplex<f32>>
    return %0 : tensor<8x16x17xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<8x16x17xcomplex<f32>>) -> tensor<8x16x32xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [32] : (tensor<8x16x17xcomplex<f32>>) -> tensor<8x16x32xf32>
    return %0 : tensor<8x16x32xf32>
  }
  func.func private @fft_1(%arg0: tensor<8x16x32xf32>) -> tensor<8x16x32xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<8x16x32xf32>) -> tensor<8x16x32xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [16, 32] : (tensor<8x16x32xcomplex<f32>>) -> tensor<8x16x32xcomplex<f32>>
    return %1 : tensor<8x16x32xcomplex<f32>>
  }
}
