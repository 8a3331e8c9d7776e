// Collectives, products, slices, convolutions, and calls of private functions.
// PASSES: sdy-pad-for-divisibility

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @slice_gather(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) {
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@m, [{"x"}]> : tensor<7xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@m, [{}]> : tensor<7xf32>
  return %1 : tensor<7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @slice_op_gather(%a: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %0 = sdy.all_slice [{"x"}, {"y"}] %a out_sharding=<@m, [{"x"}, {"y"}]> : tensor<7x5xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : tensor<7x5xf32>
  %2 = sdy.all_gather [{"x"}, {"y"}] %1 out_sharding=<@m, [{}, {}]> : tensor<7x5xf32>
  return %2 : tensor<7x5xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @all_to_all(%a: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@m, [{}, {"x"}]> : tensor<8x7xf32>
  %1 = sdy.all_gather [{}, {"x"}] %0 out_sharding=<@m, [{}, {}]> : tensor<8x7xf32>
  return %1 : tensor<8x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @all_to_all_src(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) {
  %s = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {}]> : tensor<7x8xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %s out_sharding=<@m, [{}, {"x"}]> : tensor<7x8xf32>
  return %0 : tensor<7x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @all_to_all_both(%a: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %s = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {}]> : tensor<7x5xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %s out_sharding=<@m, [{}, {"x"}]> : tensor<7x5xf32>
  %1 = sdy.all_gather [{}, {"x"}] %0 out_sharding=<@m, [{}, {}]> : tensor<7x5xf32>
  return %1 : tensor<7x5xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @all_to_all_two(%a: tensor<7x5x9x11xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<7x5x9x11xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %s = sdy.all_slice [{"x"}, {}, {"y"}, {}] %a out_sharding=<@m, [{"x"}, {}, {"y"}, {}]> : tensor<7x5x9x11xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1, {"y"}: 2->3] %s out_sharding=<@m, [{}, {"x"}, {}, {"y"}]> : tensor<7x5x9x11xf32>
  %1 = sdy.all_gather [{}, {"x"}, {}, {"y"}] %0 out_sharding=<@m, [{}, {}, {}, {}]> : tensor<7x5x9x11xf32>
  return %1 : tensor<7x5x9x11xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @all_to_all_more(%a: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}) -> (tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %s = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{"y", "x"}, {}]> : tensor<8x7xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %s out_sharding=<@m, [{"y"}, {"x"}]> : tensor<8x7xf32>
  %1 = sdy.all_gather [{"y"}, {"x"}] %0 out_sharding=<@m, [{}, {}]> : tensor<8x7xf32>
  return %1 : tensor<8x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @reduce_scatter(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}], unreduced={"x"}>}) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %0 = sdy.reduce_scatter [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {}]> : tensor<7x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@m, [{}, {}]> : tensor<7x8xf32>
  return %1 : tensor<7x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dot_rs(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<7x8xf32>, tensor<8x5xf32>) -> tensor<7x5xf32>
  %0 = sdy.reduce_scatter [{"x"}, {}] %d out_sharding=<@m, [{"x"}, {}]> : tensor<7x5xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@m, [{}, {}]> : tensor<7x5xf32>
  return %1 : tensor<7x5xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dot_contracting(%a: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, %b: tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %l = sdy.all_slice [{}, {"x"}] %a out_sharding=<@m, [{}, {"x"}]> : tensor<8x7xf32>
  %r = sdy.all_slice [{"x"}, {}] %b out_sharding=<@m, [{"x"}, {}]> : tensor<7x6xf32>
  %d = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : (tensor<8x7xf32>, tensor<7x6xf32>) -> tensor<8x6xf32>
  %0 = sdy.all_reduce {"x"} %d out_sharding=<@m, [{}, {}]> : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dot_noncontracting(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, %b: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {}]> : tensor<7x8xf32>
  %r = sdy.all_slice [{}, {"y"}] %b out_sharding=<@m, [{}, {"y"}]> : tensor<8x5xf32>
  %d = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : (tensor<7x8xf32>, tensor<8x5xf32>) -> tensor<7x5xf32>
  %0 = sdy.all_gather [{"x"}, {"y"}] %d out_sharding=<@m, [{}, {}]> : tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dot_computed(%a: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, %b: tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %l = sdy.all_slice [{}, {"x"}] %a out_sharding=<@m, [{}, {"x"}]> : tensor<8x7xf32>
  %e = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"x"}]>]>} : tensor<8x7xf32>
  %r = sdy.all_slice [{"x"}, {}] %b out_sharding=<@m, [{"x"}, {}]> : tensor<7x6xf32>
  %d = stablehlo.dot_general %e, %r, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : (tensor<8x7xf32>, tensor<7x6xf32>) -> tensor<8x6xf32>
  %0 = sdy.all_reduce {"x"} %d out_sharding=<@m, [{}, {}]> : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dot_batch(%a: tensor<3x8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}, %b: tensor<3x7x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) -> (tensor<3x8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {"y"}] %a out_sharding=<@m, [{"x"}, {}, {"y"}]> : tensor<3x8x7xf32>
  %r = sdy.all_slice [{"x"}, {"y"}, {}] %b out_sharding=<@m, [{"x"}, {"y"}, {}]> : tensor<3x7x6xf32>
  %d = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}]>]>} : (tensor<3x8x7xf32>, tensor<3x7x6xf32>) -> tensor<3x8x6xf32>
  %0 = sdy.all_reduce {"y"} %d out_sharding=<@m, [{"x"}, {}, {}]> : tensor<3x8x6xf32>
  %1 = sdy.all_gather [{"x"}, {}, {}] %0 out_sharding=<@m, [{}, {}, {}]> : tensor<3x8x6xf32>
  return %1 : tensor<3x8x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @slice(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<7x3xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {}]> : tensor<7x8xf32>
  %e = stablehlo.slice %l [0:7, 2:5] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<7x8xf32>) -> tensor<7x3xf32>
  %1 = sdy.all_gather [{"x"}, {}] %e out_sharding=<@m, [{}, {}]> : tensor<7x3xf32>
  return %1 : tensor<7x3xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @slice_result(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %e = stablehlo.slice %a [0:7, 0:8:1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<7x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %e out_sharding=<@m, [{}, {}]> : tensor<7x8xf32>
  return %1 : tensor<7x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @even(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @main(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {}]> : tensor<7x8xf32>
  %0 = func.call @f(%l) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<7x8xf32>) -> tensor<7x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@m, [{}, {}]> : tensor<7x8xf32>
  return %1 : tensor<7x8xf32>
}
func.func private @f(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<7x8xf32>
  return %0 : tensor<7x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dynamic(%a: tensor<?x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<?x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func private @f(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<7x8xf32>
  return %0 : tensor<7x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func private @f(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {}]> : tensor<7x8xf32>
  return %l : tensor<7x8xf32>
}
func.func @main(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %0 = func.call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<7x8xf32>) -> tensor<7x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@m, [{}, {}]> : tensor<7x8xf32>
  return %1 : tensor<7x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dot_two(%a: tensor<8x7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}, %b: tensor<7x5x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %l = sdy.all_slice [{}, {"x"}, {"y"}] %a out_sharding=<@m, [{}, {"x"}, {"y"}]> : tensor<8x7x5xf32>
  %e = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"x"}, {"y"}]>]>} : tensor<8x7x5xf32>
  %r = sdy.all_slice [{"x"}, {"y"}, {}] %b out_sharding=<@m, [{"x"}, {"y"}, {}]> : tensor<7x5x6xf32>
  %f = stablehlo.exponential %r {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}, {}]>]>} : tensor<7x5x6xf32>
  %d = stablehlo.dot_general %e, %f, contracting_dims = [1, 2] x [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : (tensor<8x7x5xf32>, tensor<7x5x6xf32>) -> tensor<8x6xf32>
  %0 = sdy.all_reduce {"x", "y"} %d out_sharding=<@m, [{}, {}]> : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @pad_noop(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, %p: tensor<f32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {}]> : tensor<7x8xf32>
  %e = stablehlo.pad %l, %p, low = [0, 0], high = [1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<7x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %e : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dot_same_operand(%a: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %l = sdy.all_slice [{}, {"x"}] %a out_sharding=<@m, [{}, {"x"}]> : tensor<8x7xf32>
  %e = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"x"}]>]>} : tensor<8x7xf32>
  %d = stablehlo.dot_general %e, %e, contracting_dims = [1] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : (tensor<8x7xf32>, tensor<8x7xf32>) -> tensor<8x8xf32>
  %0 = sdy.all_reduce {"x"} %d out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  %g = stablehlo.dot_general %e, %e, contracting_dims = [1] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : (tensor<8x7xf32>, tensor<8x7xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %g out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @slice_between(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %l = sdy.all_slice [{}, {"x"}] %a out_sharding=<@m, [{}, {"x"}]> : tensor<7x8xf32>
  %s = stablehlo.slice %l [0:7, 0:7] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"x"}]>]>} : (tensor<7x8xf32>) -> tensor<7x7xf32>
  %d = stablehlo.dot_general %s, %s, contracting_dims = [1] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : (tensor<7x7xf32>, tensor<7x7xf32>) -> tensor<7x7xf32>
  %0 = sdy.all_reduce {"x"} %d out_sharding=<@m, [{}, {}]> : tensor<7x7xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %0, %c, low = [0, 0], high = [1, 1], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : (tensor<7x7xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dot_plain(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, %b: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> (tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{"x"}, {}]> : tensor<7x8xf32>
  %e = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<7x8xf32>
  %d = stablehlo.dot %e, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<7x8xf32>, tensor<8x5xf32>) -> tensor<7x5xf32>
  %0 = sdy.all_gather [{"x"}, {}] %d out_sharding=<@m, [{}, {}]> : tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @dot_batch(%a: tensor<3x8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}, %b: tensor<3x7x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) -> (tensor<3x8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) {
  %l0 = sdy.all_slice [{"x"}, {}, {"y"}] %a out_sharding=<@m, [{"x"}, {}, {"y"}]> : tensor<3x8x7xf32>
  %r = sdy.all_slice [{"x"}, {"y"}, {}] %b out_sharding=<@m, [{"x"}, {"y"}, {}]> : tensor<3x7x6xf32>
  %l = stablehlo.exponential %l0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {"y"}]>]>} : tensor<3x8x7xf32>
  %d = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}]>]>} : (tensor<3x8x7xf32>, tensor<3x7x6xf32>) -> tensor<3x8x6xf32>
  %0 = sdy.all_reduce {"y"} %d out_sharding=<@m, [{"x"}, {}, {}]> : tensor<3x8x6xf32>
  %1 = sdy.all_gather [{"x"}, {}, {}] %0 out_sharding=<@m, [{}, {}, {}]> : tensor<3x8x6xf32>
  return %1 : tensor<3x8x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_batch(%a: tensor<7x8x8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<7x6x6x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {}, {}] %a out_sharding=<@m, [{"x"}, {}, {}, {}]> : tensor<7x8x8x4xf32>
  %c = stablehlo.convolution(%l, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {}]>]>} : (tensor<7x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<7x6x6x6xf32>
  %g = sdy.all_gather [{"x"}, {}, {}, {}] %c out_sharding=<@m, [{}, {}, {}, {}]> : tensor<7x6x6x6xf32>
  return %g : tensor<7x6x6x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_out_feature(%a: tensor<4x8x8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x4x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<4x6x6x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %r = sdy.all_slice [{}, {}, {}, {"x"}] %b out_sharding=<@m, [{}, {}, {}, {"x"}]> : tensor<3x3x4x7xf32>
  %c = stablehlo.convolution(%a, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {"x"}]>]>} : (tensor<4x8x8x4xf32>, tensor<3x3x4x7xf32>) -> tensor<4x6x6x7xf32>
  %g = sdy.all_gather [{}, {}, {}, {"x"}] %c out_sharding=<@m, [{}, {}, {}, {}]> : tensor<4x6x6x7xf32>
  return %g : tensor<4x6x6x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_in_feature(%a: tensor<4x8x8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x5x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<4x6x6x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{}, {}, {}, {"x"}] %a out_sharding=<@m, [{}, {}, {}, {"x"}]> : tensor<4x8x8x5xf32>
  %r = sdy.all_slice [{}, {}, {"x"}, {}] %b out_sharding=<@m, [{}, {}, {"x"}, {}]> : tensor<3x3x5x6xf32>
  %c = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : (tensor<4x8x8x5xf32>, tensor<3x3x5x6xf32>) -> tensor<4x6x6x6xf32>
  %red = sdy.all_reduce {"x"} %c out_sharding=<@m, [{}, {}, {}, {}]> : tensor<4x6x6x6xf32>
  return %red : tensor<4x6x6x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_batch_pad(%a: tensor<7x8x8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<7x8x8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {}, {}] %a out_sharding=<@m, [{"x"}, {}, {}, {}]> : tensor<7x8x8x4xf32>
  %c = stablehlo.convolution(%l, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {}]>]>} : (tensor<7x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<7x8x8x6xf32>
  %g = sdy.all_gather [{"x"}, {}, {}, {}] %c out_sharding=<@m, [{}, {}, {}, {}]> : tensor<7x8x8x6xf32>
  return %g : tensor<7x8x8x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_three(%a: tensor<7x8x8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<7x6x6x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {}, {"y"}] %a out_sharding=<@m, [{"x"}, {}, {}, {"y"}]> : tensor<7x8x8x5xf32>
  %r = sdy.all_slice [{}, {}, {"y"}, {"z"}] %b out_sharding=<@m, [{}, {}, {"y"}, {"z"}]> : tensor<3x3x5x7xf32>
  %c = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {"z"}]>]>} : (tensor<7x8x8x5xf32>, tensor<3x3x5x7xf32>) -> tensor<7x6x6x7xf32>
  %red = sdy.all_reduce {"y"} %c out_sharding=<@m, [{"x"}, {}, {}, {"z"}]> : tensor<7x6x6x7xf32>
  %g = sdy.all_gather [{"x"}, {}, {}, {"z"}] %red out_sharding=<@m, [{}, {}, {}, {}]> : tensor<7x6x6x7xf32>
  return %g : tensor<7x6x6x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_groups(%a: tensor<4x8x8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x2x9xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<4x6x6x9xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %c = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : (tensor<4x8x8x6xf32>, tensor<3x3x2x9xf32>) -> tensor<4x6x6x9xf32>
  return %c : tensor<4x6x6x9xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_bgroups(%a: tensor<7x8x8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<1x6x6x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{}, {}, {}, {"y"}] %a out_sharding=<@m, [{}, {}, {}, {"y"}]> : tensor<7x8x8x5xf32>
  %r = sdy.all_slice [{}, {}, {"y"}, {}] %b out_sharding=<@m, [{}, {}, {"y"}, {}]> : tensor<3x3x5x7xf32>
  %c = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 7 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : (tensor<7x8x8x5xf32>, tensor<3x3x5x7xf32>) -> tensor<1x6x6x7xf32>
  %red = sdy.all_reduce {"y"} %c out_sharding=<@m, [{}, {}, {}, {}]> : tensor<1x6x6x7xf32>
  return %red : tensor<1x6x6x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_1d(%a: tensor<7x8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}, %b: tensor<3x5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) -> (tensor<7x6x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {"y"}] %a out_sharding=<@m, [{"x"}, {}, {"y"}]> : tensor<7x8x5xf32>
  %r = sdy.all_slice [{}, {"y"}, {"z"}] %b out_sharding=<@m, [{}, {"y"}, {"z"}]> : tensor<3x5x7xf32>
  %c = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {"z"}]>]>} : (tensor<7x8x5xf32>, tensor<3x5x7xf32>) -> tensor<7x6x7xf32>
  %red = sdy.all_reduce {"y"} %c out_sharding=<@m, [{"x"}, {}, {"z"}]> : tensor<7x6x7xf32>
  %g = sdy.all_gather [{"x"}, {}, {"z"}] %red out_sharding=<@m, [{}, {}, {}]> : tensor<7x6x7xf32>
  return %g : tensor<7x6x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_wgrad(%a: tensor<7x6x6x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<7x4x4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<3x3x5x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {}, {}] %a out_sharding=<@m, [{"x"}, {}, {}, {}]> : tensor<7x6x6x5xf32>
  %r = sdy.all_slice [{"x"}, {}, {}, {}] %b out_sharding=<@m, [{"x"}, {}, {}, {}]> : tensor<7x4x4x6xf32>
  %c = stablehlo.convolution(%l, %r) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : (tensor<7x6x6x5xf32>, tensor<7x4x4x6xf32>) -> tensor<3x3x5x6xf32>
  %red = sdy.all_reduce {"x"} %c out_sharding=<@m, [{}, {}, {}, {}]> : tensor<3x3x5x6xf32>
  return %red : tensor<3x3x5x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_wgrad2(%a: tensor<7x6x6x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<7x4x4x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<3x3x5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {}, {"y"}] %a out_sharding=<@m, [{"x"}, {}, {}, {"y"}]> : tensor<7x6x6x5xf32>
  %r = sdy.all_slice [{"x"}, {}, {}, {"z"}] %b out_sharding=<@m, [{"x"}, {}, {}, {"z"}]> : tensor<7x4x4x7xf32>
  %c = stablehlo.convolution(%l, %r) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {"y"}, {"z"}]>]>} : (tensor<7x6x6x5xf32>, tensor<7x4x4x7xf32>) -> tensor<3x3x5x7xf32>
  %red = sdy.all_reduce {"x"} %c out_sharding=<@m, [{}, {}, {"y"}, {"z"}]> : tensor<3x3x5x7xf32>
  %g = sdy.all_gather [{}, {}, {"y"}, {"z"}] %red out_sharding=<@m, [{}, {}, {}, {}]> : tensor<3x3x5x7xf32>
  return %g : tensor<3x3x5x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_in_feature_exp(%a: tensor<4x8x8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x5x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<4x6x6x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{}, {}, {}, {"x"}] %a out_sharding=<@m, [{}, {}, {}, {"x"}]> : tensor<4x8x8x5xf32>
  %r = sdy.all_slice [{}, {}, {"x"}, {}] %b out_sharding=<@m, [{}, {}, {"x"}, {}]> : tensor<3x3x5x6xf32>
  %le = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {"x"}]>]>} : tensor<4x8x8x5xf32>
  %re = stablehlo.exponential %r {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {"x"}, {}]>]>} : tensor<3x3x5x6xf32>
  %c = stablehlo.convolution(%le, %re) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : (tensor<4x8x8x5xf32>, tensor<3x3x5x6xf32>) -> tensor<4x6x6x6xf32>
  %red = sdy.all_reduce {"x"} %c out_sharding=<@m, [{}, {}, {}, {}]> : tensor<4x6x6x6xf32>
  return %red : tensor<4x6x6x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_three_exp(%a: tensor<7x8x8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<7x6x6x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {}, {"y"}] %a out_sharding=<@m, [{"x"}, {}, {}, {"y"}]> : tensor<7x8x8x5xf32>
  %r = sdy.all_slice [{}, {}, {"y"}, {"z"}] %b out_sharding=<@m, [{}, {}, {"y"}, {"z"}]> : tensor<3x3x5x7xf32>
  %le = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {"y"}]>]>} : tensor<7x8x8x5xf32>
  %re = stablehlo.exponential %r {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {"y"}, {"z"}]>]>} : tensor<3x3x5x7xf32>
  %c = stablehlo.convolution(%le, %re) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {"z"}]>]>} : (tensor<7x8x8x5xf32>, tensor<3x3x5x7xf32>) -> tensor<7x6x6x7xf32>
  %red = sdy.all_reduce {"y"} %c out_sharding=<@m, [{"x"}, {}, {}, {"z"}]> : tensor<7x6x6x7xf32>
  %g = sdy.all_gather [{"x"}, {}, {}, {"z"}] %red out_sharding=<@m, [{}, {}, {}, {}]> : tensor<7x6x6x7xf32>
  return %g : tensor<7x6x6x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_groups_exp(%a: tensor<4x8x8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x2x9xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<4x6x6x9xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %le = stablehlo.exponential %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : tensor<4x8x8x6xf32>
  %re = stablehlo.exponential %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : tensor<3x3x2x9xf32>
  %c = stablehlo.convolution(%le, %re) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : (tensor<4x8x8x6xf32>, tensor<3x3x2x9xf32>) -> tensor<4x6x6x9xf32>
  return %c : tensor<4x6x6x9xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_bgroups_exp(%a: tensor<7x8x8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<3x3x5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<1x6x6x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{}, {}, {}, {"y"}] %a out_sharding=<@m, [{}, {}, {}, {"y"}]> : tensor<7x8x8x5xf32>
  %r = sdy.all_slice [{}, {}, {"y"}, {}] %b out_sharding=<@m, [{}, {}, {"y"}, {}]> : tensor<3x3x5x7xf32>
  %le = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {"y"}]>]>} : tensor<7x8x8x5xf32>
  %re = stablehlo.exponential %r {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {"y"}, {}]>]>} : tensor<3x3x5x7xf32>
  %c = stablehlo.convolution(%le, %re) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 7 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : (tensor<7x8x8x5xf32>, tensor<3x3x5x7xf32>) -> tensor<1x6x6x7xf32>
  %red = sdy.all_reduce {"y"} %c out_sharding=<@m, [{}, {}, {}, {}]> : tensor<1x6x6x7xf32>
  return %red : tensor<1x6x6x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_1d_exp(%a: tensor<7x8x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}, %b: tensor<3x5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) -> (tensor<7x6x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {"y"}] %a out_sharding=<@m, [{"x"}, {}, {"y"}]> : tensor<7x8x5xf32>
  %r = sdy.all_slice [{}, {"y"}, {"z"}] %b out_sharding=<@m, [{}, {"y"}, {"z"}]> : tensor<3x5x7xf32>
  %le = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {"y"}]>]>} : tensor<7x8x5xf32>
  %re = stablehlo.exponential %r {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"y"}, {"z"}]>]>} : tensor<3x5x7xf32>
  %c = stablehlo.convolution(%le, %re) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {"z"}]>]>} : (tensor<7x8x5xf32>, tensor<3x5x7xf32>) -> tensor<7x6x7xf32>
  %red = sdy.all_reduce {"y"} %c out_sharding=<@m, [{"x"}, {}, {"z"}]> : tensor<7x6x7xf32>
  %g = sdy.all_gather [{"x"}, {}, {"z"}] %red out_sharding=<@m, [{}, {}, {}]> : tensor<7x6x7xf32>
  return %g : tensor<7x6x7xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_wgrad_exp(%a: tensor<7x6x6x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<7x4x4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<3x3x5x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {}, {}] %a out_sharding=<@m, [{"x"}, {}, {}, {}]> : tensor<7x6x6x5xf32>
  %r = sdy.all_slice [{"x"}, {}, {}, {}] %b out_sharding=<@m, [{"x"}, {}, {}, {}]> : tensor<7x4x4x6xf32>
  %le = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {}]>]>} : tensor<7x6x6x5xf32>
  %re = stablehlo.exponential %r {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {}]>]>} : tensor<7x4x4x6xf32>
  %c = stablehlo.convolution(%le, %re) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}, {}]>]>} : (tensor<7x6x6x5xf32>, tensor<7x4x4x6xf32>) -> tensor<3x3x5x6xf32>
  %red = sdy.all_reduce {"x"} %c out_sharding=<@m, [{}, {}, {}, {}]> : tensor<3x3x5x6xf32>
  return %red : tensor<3x3x5x6xf32>
}

// -----

sdy.mesh @m = <["x"=2, "y"=2, "z"=3]>
func.func @conv_wgrad2_exp(%a: tensor<7x6x6x5xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}, %b: tensor<7x4x4x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) -> (tensor<3x3x5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}, {}]>}) {
  %l = sdy.all_slice [{"x"}, {}, {}, {"y"}] %a out_sharding=<@m, [{"x"}, {}, {}, {"y"}]> : tensor<7x6x6x5xf32>
  %r = sdy.all_slice [{"x"}, {}, {}, {"z"}] %b out_sharding=<@m, [{"x"}, {}, {}, {"z"}]> : tensor<7x4x4x7xf32>
  %le = stablehlo.exponential %l {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {"y"}]>]>} : tensor<7x6x6x5xf32>
  %re = stablehlo.exponential %r {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {"z"}]>]>} : tensor<7x4x4x7xf32>
  %c = stablehlo.convolution(%le, %re) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {"y"}, {"z"}]>]>} : (tensor<7x6x6x5xf32>, tensor<7x4x4x7xf32>) -> tensor<3x3x5x7xf32>
  %red = sdy.all_reduce {"x"} %c out_sharding=<@m, [{}, {}, {"y"}, {"z"}]> : tensor<3x3x5x7xf32>
  %g = sdy.all_gather [{}, {}, {"y"}, {"z"}] %red out_sharding=<@m, [{}, {}, {}, {}]> : tensor<3x3x5x7xf32>
  return %g : tensor<3x3x5x7xf32>
}
