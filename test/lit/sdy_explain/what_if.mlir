// RUN: sdy-explain %s --what-if="arg0=[{}, {'x'}]" --what-if="arg1=[{'x'}, {}]" | FileCheck %s
// RUN: sdy-explain %s --what-if="%%a=[{}, {'x'}]" --value=%%b | FileCheck %s --check-prefix=VALUE
// RUN: sdy-explain %s --what-if="a=P(None, 'x')" --what-if="b=P('x')" | FileCheck %s
// RUN: sdy-explain %s --what-if="%%a=[{}, {'x'}]" --value=%%b --json | FileCheck %s --check-prefix=JSON
// RUN: sdy-explain %s --advise --json | FileCheck %s --check-prefix=ADVICE
// RUN: sdy-explain - --what-if="arg0=[{}, {'x'}]" --what-if="arg1=[{'x'}, {}]" < %s | FileCheck %s
// RUN: not sdy-explain - --check="at most 1B of memory" < %s 2>&1 | FileCheck %s --check-prefix=PIPE
// RUN: not sdy-explain %s --what-if="%%a=[{}, {'x'}]" --check="no all_gather" 2>&1 | FileCheck %s --check-prefix=CHECK-TOO
// RUN: not sdy-explain %s --what-if="%%a=[{}, {'x'}]" --html=%t.html 2>&1 | FileCheck %s --check-prefix=HTML
// RUN: not sdy-explain %s --what-if="%%a=[{}, {'x'}]" --advise 2>&1 | FileCheck %s --check-prefix=ADVISE
// RUN: not sdy-explain %s --advise --check="no all_gather" 2>&1 | FileCheck %s --check-prefix=ADVISE-TOO
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
// PIPE: error: the contract 'at most 1 byte of memory' is violated
// CHECK-TOO: error: '--check' can't be combined with '--what-if', which compares other programs
// HTML: error: '--html' can't be combined with '--what-if', which compares other programs
// ADVISE: error: '--what-if' and '--advise' try other shardings: run each alone
// ADVISE-TOO: error: '--check' can't be combined with '--advise', which compares other programs
// SCHEDULE: error: '--what-if' is for annotated programs: it can't be combined with '--schedule'
// WRONG: error: expected '--what-if' with a value and a sharding, got: 'arg0'; write "arg0=[{'model'}, {}]"
// UNKNOWN: error: no value 'arg2'

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
