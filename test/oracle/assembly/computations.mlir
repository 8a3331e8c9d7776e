sdy.mesh @m = <["x"=4, "y"=2]>
func.func @main(%a: tensor<16x8xf32>, %b: tensor<4xf32>) -> (tensor<16x8xf32>, tensor<4xf32>) {
  %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@m, [{"x", "y"}, {}]>, <@m, [{?}]>] out_shardings=[<@m, [{"x"}, {?}]>, <@m, [{}], replicated={"x"}>] manual_axes={"x"} (%c: tensor<4x8xf32>, %d: tensor<4xf32>) {
    %1 = sdy.manual_computation(%c) in_shardings=[<@m, [{"y"}, {}]>] out_shardings=[<@m, [{"y"}, {}]>] manual_axes={"y"} (%e: tensor<2x8xf32>) {
      sdy.return %e : tensor<2x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %1, %d : tensor<4x8xf32>, tensor<4xf32>
  } : (tensor<16x8xf32>, tensor<4xf32>) -> (tensor<16x8xf32>, tensor<4xf32>)
  %2 = sdy.named_computation<"f \22">(%0#1) in_shardings=[<@m, [{}]>] out_shardings=[<@m, [{?}]>] (%c: tensor<4xf32>) {
    %3 = stablehlo.negate %c : tensor<4xf32>
    sdy.return %3 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %4 = sdy.named_computation<"g">() () {
    %5 = stablehlo.constant dense<1.0> : tensor<4xf32>
    sdy.return {tag} %5 : tensor<4xf32>
  } {tag} : () -> tensor<4xf32>
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return %0#0, %2 : tensor<16x8xf32>, tensor<4xf32>
}
