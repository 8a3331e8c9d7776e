// Named computations become local, and stay.
// PASSES: sdy-convert-global-to-local

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @one(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %v = sdy.named_computation<"foo">(%a) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] (%b: tensor<8x8xf32>) {
    %1 = stablehlo.add %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %v : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @no_shardings(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %v = sdy.named_computation<"foo">(%a) (%b: tensor<8x8xf32>) {
    %1 = stablehlo.add %b, %b : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %v : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @two(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %c: tensor<8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, tensor<8xf32>) {
  %v:2 = sdy.named_computation<"foo">(%a, %c) in_shardings=[<@m, [{"x"}, {"y"}]>, <@m, [{}]>] out_shardings=[<@m, [{"x"}, {"y"}]>, <@m, [{}]>] (%b: tensor<8x8xf32>, %d: tensor<8xf32>) {
    %w = sdy.named_computation<"bar">(%b) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] (%bb: tensor<8x8xf32>) {
      %1 = stablehlo.add %bb, %bb {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
      %g = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@m, [{}, {"y"}]> : tensor<8x8xf32>
      %h = sdy.all_to_all [{"y"}: 1->0] %g out_sharding=<@m, [{"y"}, {}]> : tensor<8x8xf32>
      %p = sdy.all_gather [{"y"}, {}] %h out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
      sdy.return %1 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %w, %d : tensor<8x8xf32>, tensor<8xf32>
  } : (tensor<8x8xf32>, tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  return %v#0, %v#1 : tensor<8x8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @in_manual(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %u = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %v = sdy.named_computation<"foo">(%b) in_shardings=[<@m, [{}, {"y"}]>] out_shardings=[<@m, [{}, {"y"}]>] (%c: tensor<4x8xf32>) {
      %1 = stablehlo.add %c, %c {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"y"}]>]>} : tensor<4x8xf32>
      sdy.return %1 : tensor<4x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %v : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %u : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @manual_in_named(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %v = sdy.named_computation<"foo">(%a) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] (%c: tensor<8x8xf32>) {
    %u = sdy.manual_computation(%c) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
      %1 = stablehlo.add %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"y"}]>]>} : tensor<4x8xf32>
      sdy.return %1 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %u : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %v : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @no_operands() -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %v = sdy.named_computation<"foo">() out_shardings=[<@m, [{"x"}, {"y"}]>] () {
    %c = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} dense<1.0> : tensor<8x8xf32>
    sdy.return %c : tensor<8x8xf32>
  } : () -> tensor<8x8xf32>
  return %v : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2]>
func.func @in_while(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %n: tensor<i32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %w:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<8x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@m, []>, <@m, [{"x"}, {"y"}]>]>}
    cond {
      %1 = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %v = sdy.named_computation<"foo">(%x) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] (%b: tensor<8x8xf32>) {
        %1 = stablehlo.add %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
        sdy.return %1 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      stablehlo.return %i, %v : tensor<i32>, tensor<8x8xf32>
    }
  return %w#1 : tensor<8x8xf32>
}
