// The artifact itself, read as StableHLO without sdy.
// RUN: sdy-translate %s --to=portable -o %t
// RUN: %python -c "import sys; from mlir_sdy.dialect import Context; from mlir_sdy.host import stablehlo; print(stablehlo.deserialize_portable_artifact(Context(), open(sys.argv[1], 'rb').read()))" %t | FileCheck %s

// CHECK: module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}}
sdy.mesh @mesh = <["x"=2]>

// CHECK: @main(%arg0: tensor<4xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}]>"}}) -> tensor<4xf32>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) {
  // CHECK: stablehlo.custom_call @Sharding(%arg0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}]>]>"}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<4xf32>
  // CHECK: stablehlo.custom_call @xla.sdy.ShardingGroup(%[[VALUE:[0-9]+]]) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "7 : i64"}}
  sdy.sharding_group %0 group_id=7 : tensor<4xf32>
  // CHECK: stablehlo.custom_call @xla.sdy.PropagationBarrier(%[[VALUE]]) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i32"}}
  %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<4xf32>
  // CHECK: [[LOCAL:%.*]] = stablehlo.custom_call @xla.sdy.GlobalToLocalShape({{.*}}) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}}
  // CHECK: [[CALLED:%.*]] = call @xla.sdy.manual_computation_body([[LOCAL]]) {mhlo.frontend_attributes = {inlineable = "false"}}
  // CHECK: stablehlo.custom_call @xla.sdy.LocalToGlobalShape([[CALLED]]) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}}
  %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    %3 = stablehlo.negate %b : tensor<2xf32>
    sdy.return %3 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: [[RESULT:%.*]] = stablehlo.custom_call @xla.sdy.FuncResultSharding({{.*}}) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{?}]>]>"}}
  // CHECK: return [[RESULT]]
  return %2 : tensor<4xf32>
}
// CHECK: func.func private @xla.sdy.manual_computation_body(%arg0: tensor<2xf32>) -> tensor<2xf32>
