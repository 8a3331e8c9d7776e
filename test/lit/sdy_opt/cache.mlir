// Results come from the cache with their diagnostics; flags that show or check passes run them.

// The check of analyses, which all tests have, runs passes in any case.
// RUN: export PYSHARDY_VERIFY_ANALYSES=
// RUN: rm -rf %t && mkdir -p %t
// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-partition-pipeline > %t/computed 2> %t/said
// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-partition-pipeline --cache=%t/cache > %t/first 2> %t/first_said
// RUN: sdy-opt %s --sdy-propagation-pipeline --sdy-partition-pipeline --cache=%t/cache > %t/second 2> %t/second_said
// RUN: cmp %t/computed %t/first && cmp %t/computed %t/second
// RUN: cmp %t/said %t/first_said && cmp %t/said %t/second_said
// RUN: FileCheck %s --input-file=%t/second_said
// RUN: ls %t/cache | wc -l | FileCheck %s --check-prefix=ONE
// ONE: {{^1$}}

// CHECK: cache.mlir:[[# @LINE + 31]]:8: warning: custom call @unknown is unknown to SDY sharding rule registry

// Another option, another rule, and a changed file of passes are other programs.
// RUN: cp %S/Inputs/user.py %t/passes.py
// RUN: sdy-opt %s --sdy-propagation-pipeline --cache=%t/cache -o %t/out
// RUN: sdy-opt %s --sdy-propagation-pipeline=conservative-propagation=true --cache=%t/cache -o %t/out
// RUN: sdy-opt %s --sdy-propagation-pipeline --load-passes=%t/passes.py --cache=%t/cache -o %t/out
// RUN: sdy-opt %s --sdy-propagation-pipeline --load-passes=%t/passes.py --cache=%t/cache -o %t/out
// RUN: echo "# changed" >> %t/passes.py
// RUN: sdy-opt %s --sdy-propagation-pipeline --load-passes=%t/passes.py --cache=%t/cache -o %t/out
// RUN: ls %t/cache | wc -l | FileCheck %s --check-prefix=FIVE
// FIVE: {{^5$}}

// RUN: sdy-opt %s --sdy-propagation-pipeline --cache=%t/cache --mlir-timing 2>&1 | FileCheck %s --check-prefix=TIMING
// TIMING: UserPriorityPropagatePass
// RUN: sdy-opt %s --sdy-propagation-pipeline --cache=%t/cache --mlir-print-ir-after=sdy-close-shardings --sdy-close-shardings 2>&1 | FileCheck %s --check-prefix=SHOWN
// SHOWN: IR Dump After CloseShardingsPass

// The variable has the folder; `--cache=false` does without.
// RUN: env PYSHARDY_CACHE=%t/variable sdy-opt %s --sdy-propagation-pipeline -o %t/out
// RUN: env PYSHARDY_CACHE=%t/variable sdy-opt %s --sdy-basic-propagate --cache=false -o %t/out
// RUN: env XDG_CACHE_HOME=%t/home sdy-opt %s --sdy-propagation-pipeline --cache -o %t/out
// RUN: ls %t/variable %t/home/pyshardy | wc -l | FileCheck %s --check-prefix=FOLDERS
// FOLDERS: {{^5$}}

// RUN: sh -c 'for file in %t/cache/*; do echo damaged > $file; done'
// RUN: sdy-opt %s --sdy-propagation-pipeline --cache=%t/cache -o %t/out 2>&1 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: warning: cache of programs: '{{.*}}.sdycache' is damaged, or not a file of the cache: it isn't used
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @unknown(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
