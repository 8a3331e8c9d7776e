// Calls, and named computations of the input.
// PASSES: sdy-import-func-calls
// PASSES: sdy-import-func-calls{add-data-flow-edges-on-named-computations=false}

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @simple(%arg0: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1: tensor<8x2xi32>) -> (tensor<8x2xi32> {jax.result_info = ""}) {
  %0 = call @foo(%arg0, %arg1) {mhlo.frontend_attributes = {backend_config = ""}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @foo(%arg0: tensor<8x2xi32>, %arg1: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = stablehlo.multiply %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @two_calls(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @foo(%arg0) {a = 1 : i32} : (tensor<8x2xi32>) -> tensor<8x2xi32>
  %1 = call @foo(%0) {b = 1 : i32} : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %1 : tensor<8x2xi32>
}
func.func private @foo(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @two_calls_sharded(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @foo(%arg0) {a = 1 : i32} : (tensor<8x2xi32>) -> tensor<8x2xi32>
  %1 = call @foo(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %1 : tensor<8x2xi32>
}
func.func private @foo(%arg0: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<8x2xi32> {
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @fn_no_inline(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @foo(%arg0) : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @foo(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> attributes {no_inline} {
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}

// -----

func.func @fn_attributes(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @foo(%arg0) : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @foo(%arg0: tensor<8x2xi32> {jax.arg_info = "x"}) -> (tensor<8x2xi32> {jax.result_info = "r"}) attributes {execution_thread = "t", random = 3 : i32, sdy.original_func_name = "bar", sdy.func_manual_axes = #sdy<manual_axes{"x"}>} {
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @nested(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @foo(%arg0) : (tensor<8x2xi32>) -> tensor<8x2xi32>
  %1 = call @bar(%0) : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %1 : tensor<8x2xi32>
}
func.func private @foo(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @bar(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @bar(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @foo(%arg0) : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @foo(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<4x2xi32>) {
    %1 = func.call @bar(%b) : (tensor<4x2xi32>) -> tensor<4x2xi32>
    sdy.return %1 : tensor<4x2xi32>
  } : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @bar(%arg0: tensor<4x2xi32>) -> tensor<4x2xi32> attributes {sdy.func_manual_axes = #sdy<manual_axes{"x"}>} {
  %0 = stablehlo.multiply %arg0, %arg0 : tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}

// -----

func.func @in_while(%arg0: tensor<8x2xi32>, %n: tensor<i32>) -> tensor<8x2xi32> {
  %w:2 = stablehlo.while(%i = %n, %x = %arg0) : tensor<i32>, tensor<8x2xi32>
    cond {
      %1 = func.call @cond(%i) : (tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %v = func.call @body(%x) : (tensor<8x2xi32>) -> tensor<8x2xi32>
      stablehlo.return %i, %v : tensor<i32>, tensor<8x2xi32>
    }
  return %w#1 : tensor<8x2xi32>
}
func.func private @cond(%i: tensor<i32>) -> tensor<i1> {
  %1 = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %1 : tensor<i1>
}
func.func private @body(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  return %arg0 : tensor<8x2xi32>
}

// -----

func.func @no_args() -> tensor<8x2xi32> {
  %0 = call @foo() : () -> tensor<8x2xi32>
  %1 = call @foo() : () -> tensor<8x2xi32>
  call @void(%0) : (tensor<8x2xi32>) -> ()
  %2 = stablehlo.add %0, %1 : tensor<8x2xi32>
  return %2 : tensor<8x2xi32>
}
func.func private @foo() -> tensor<8x2xi32> {
  %0 = stablehlo.constant dense<1> : tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @void(%a: tensor<8x2xi32>) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @maximal = <[], device_ids=[1]>
func.func @maximal_call(%arg0: tensor<8x2xi32>, %t: !stablehlo.token) -> (tensor<8x2xi32>, !stablehlo.token) {
  %0:2 = call @foo(%arg0, %t) {sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>, <@maximal, []>]>} : (tensor<8x2xi32>, !stablehlo.token) -> (tensor<8x2xi32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<8x2xi32>, !stablehlo.token
}
func.func private @foo(%a: tensor<8x2xi32>, %t: !stablehlo.token) -> (tensor<8x2xi32>, !stablehlo.token) {
  return %a, %t : tensor<8x2xi32>, !stablehlo.token
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @dynamic(%arg0: tensor<?x2xi32>, %t: !stablehlo.token) -> (tensor<?x2xi32>, !stablehlo.token) {
  %0:2 = call @foo(%arg0, %t) : (tensor<?x2xi32>, !stablehlo.token) -> (tensor<?x2xi32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<?x2xi32>, !stablehlo.token
}
func.func private @foo(%a: tensor<?x2xi32>, %t: !stablehlo.token) -> (tensor<?x2xi32>, !stablehlo.token) {
  return %a, %t : tensor<?x2xi32>, !stablehlo.token
}

// -----

func.func @public_callee(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @foo(%arg0) : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func @foo(%a: tensor<8x2xi32>) -> tensor<8x2xi32> {
  return %a : tensor<8x2xi32>
}
func.func @uncalled(%a: tensor<8x2xi32>) -> tensor<8x2xi32> {
  return %a : tensor<8x2xi32>
}
func.func private @uncalled2(%a: tensor<8x2xi32>) -> tensor<8x2xi32> {
  return %a : tensor<8x2xi32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @with_named(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = sdy.named_computation<"baz">(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] (%b: tensor<8x2xi32>) {
    %1 = func.call @foo(%b) : (tensor<8x2xi32>) -> tensor<8x2xi32>
    sdy.return %1 : tensor<8x2xi32>
  } : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @foo(%a: tensor<8x2xi32>) -> tensor<8x2xi32> {
  return %a : tensor<8x2xi32>
}

// -----

func.func @arg_attrs(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = "func.call"(%arg0) <{callee = @foo, arg_attrs = [{foo = 1 : i32}], res_attrs = [{bar}]}> : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @foo(%a: tensor<8x2xi32>) -> tensor<8x2xi32> {
  return %a : tensor<8x2xi32>
}

// -----

func.func @calls_main(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @main(%arg0) : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func @main(%a: tensor<8x2xi32>) -> tensor<8x2xi32> {
  return %a : tensor<8x2xi32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @backend(%arg0: tensor<8x2xi32>) -> tensor<8x2xi32> {
  %0 = call @foo(%arg0) {mhlo.frontend_attributes = {_xla_compute_type = "host"}, xla_something = "b", has_side_effect = true, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=2}>} : (tensor<8x2xi32>) -> tensor<8x2xi32>
  return %0 : tensor<8x2xi32>
}
func.func private @foo(%a: tensor<8x2xi32>) -> tensor<8x2xi32> attributes {mhlo.frontend_attributes = {x = "y"}, xla_b} {
  return %a : tensor<8x2xi32>
}
