// RUN: sdy-explain %s --what-if="arg0=[{}, {'x'}]" --what-if="arg1=[{'x'}, {}]" | FileCheck %s
// RUN: sdy-explain %s --what-if="%%a=[{}, {'x'}]" --value=%%b | FileCheck %s --check-prefix=VALUE
// RUN: sdy-explain %s --what-if="a=P(None, 'x')" --what-if="b=P('x')" | FileCheck %s
// RUN: sdy-explain %s --what-if="%%a=[{}, {'x'}]" --value=%%b --json | FileCheck %s --check-prefix=JSON
// RUN: sdy-explain %s --advise --json | FileCheck %s --check-prefix=ADVICE
// RUN: not sdy-explain %s --what-if="arg0" 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not sdy-explain %s --what-if="arg0=[{}, {}]" --schedule=plan.toml 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not sdy-explain %s --what-if="arg2=[{}]" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: cost {{ *}} before {{ *}} after
// CHECK: bytes sent {{ *}} 0 {{ *}} 64
// CHECK: all_reduce x {{ *}} 0 -> 1 {{ *}} 0 -> 64
// CHECK: is a reduction over a dimension sharded along x
// VALUE: with this change: 2 devices
// VALUE: %b ({{.*}}): <@mesh, [{"x",
// JSON: "values": {
// JSON-NEXT: "%b": [
// JSON: "difference": {
// ADVICE: []
// SCHEDULE: error: '--what-if' is for annotated programs: it can't be combined with '--schedule'
// WRONG: error: expected '--what-if' with a value and a sharding, got: 'arg0'; write "arg0=[{'model'}, {}]"
// UNKNOWN: error: no value 'arg2'

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
