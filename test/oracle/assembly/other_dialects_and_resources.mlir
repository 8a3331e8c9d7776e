module @named attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4xi32>) -> tensor<i32> {
    %c = stablehlo.constant dense_resource<weights> : tensor<1xi32>
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.while(%x = %0) : tensor<i32> attributes {sdy.note = "{"} cond {
      %2 = stablehlo.compare LT, %x, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = sdy.propagation_barrier %x allowed_direction=NONE : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }
    return %1 : tensor<i32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x0400000001000000"
    }
  }
#-}
