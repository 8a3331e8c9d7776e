// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Fourier transforms.

// The last dimensions are transformed.
// CHECK-LABEL: func.func @three
func.func @three(%a: tensor<2x4x6x8xcomplex<f32>>) {
  // CHECK: #sdy.op_sharding_rule<([i, j, k, l])->([i, j, k, l]) {i=2, j=4, k=6, l=8} need_replication={j, k, l}>
  stablehlo.fft %a, type = FFT, length = [4, 6, 8] : (tensor<2x4x6x8xcomplex<f32>>) -> tensor<2x4x6x8xcomplex<f32>>
  return
}

// Nothing propagates along the last one where its size changes.
// CHECK-LABEL: func.func @inverse
func.func @inverse(%a: tensor<2x4x4xcomplex<f32>>) {
  // CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=2, j=4, k=4} need_replication={j, k} blocked_propagation={k}>
  stablehlo.fft %a, type = IRFFT, length = [4, 6] : (tensor<2x4x4xcomplex<f32>>) -> tensor<2x4x6xf32>
  return
}
