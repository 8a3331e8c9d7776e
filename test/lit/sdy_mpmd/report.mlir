// RUN: sdy-mpmd %s --assign='s[0]@m0,s1@m1' --print-orders | FileCheck %s --check-prefix=REPORT
// RUN: sdy-mpmd %s --assign=s0@m0,s1@m1 --emit=actions | FileCheck %s --check-prefix=ACTIONS
// RUN: sdy-mpmd %s --assign=s0@m0,s1@m1 --emit=mpmd | FileCheck %s --check-prefix=MODULE
// RUN: sdy-mpmd %s --assign=s0@m0,s1@m1 --plan --hardware=h100 --json=%t.json 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: sdy-mpmd %s --assign=s0@m0,s1@m1 --schedules=gpipe,none --hardware=h100 | FileCheck %s --check-prefix=TABLE
// RUN: not sdy-mpmd %s --assign=s0@m0,s1@m1 --schedules=1f1b, 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: '' is no schedule: expected one name, such as '1f1b'
// RUN: sdy-mpmd %s --assign=s0@m0,s1@m1 --print-orders --hardware=%S/../mpmd/propagating/Inputs/slow_between_meshes.toml | FileCheck %s --check-prefix=PARTS
// RUN: sdy-mpmd %s --assign=s0@m0,s1@m1 --print-orders --transfers=direct --hardware=%S/../mpmd/propagating/Inputs/slow_between_meshes.toml | FileCheck %s --check-prefix=REPORT
// RUN: not sdy-mpmd %s --assign=s0@m0,s1@m2 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not sdy-mpmd %s --assign=s0 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not sdy-mpmd %s --topology=x:2 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// RUN: sdy-mpmd %s --assign=s0@m0,s1@m1 --plan --hardware=h100 --advise --html=%t.html 2>&1 | FileCheck %s --check-prefix=ADVICE
// RUN: FileCheck %s --check-prefix=PAGE < %t.html
// RUN: not sdy-mpmd %s --microbatches=4 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not sdy-mpmd %s.py:f --microbatches=four 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not sdy-mpmd %s.py:f 2>&1 | FileCheck %s --check-prefix=PYTHON
// RUN: sdy-mpmd %s --assign=s0@m0,s1@m1 --advise --hardware=h100 | FileCheck %s --check-prefix=ADVISED
// RUN: not sdy-run %s 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not sdy-explain %s 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sdy-opt %s '-mpmd-import-pipeline=name-to-mesh-assignment=s0@m0,s1@m1 infer-transfers=true' -o %t.mlir
// RUN: sdy-translate %t.mlir --to=bytecode -o %t.bc
// RUN: sdy-mpmd %t.bc --print-orders | FileCheck %s --check-prefix=REPORT
// RUN: sdy-mpmd %s --assign=s0@m0,s1@m1 --emit=mpmd > %t.mlir
// RUN: not sdy-mpmd %t.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN

// REPORT: 2 meshes, 2 fragments of 2 programs, 1 transfer of 32 bytes
// REPORT: Schedule 1f1b
// REPORT: 0 {{.*}}m0 {{.*}}m1 {{.*}}tensor<4xf32> {{.*}}direct {{.*}}32
// REPORT: OK: the results match those of the unpartitioned program

// PARTS: 1 transfer of 16 bytes
// PARTS: 0 {{.*}}m0 {{.*}}m1 {{.*}}tensor<4xf32> {{.*}}gathered {{.*}}16
// PARTS: OK

// ACTIONS:      m0:
// ACTIONS-NEXT:   run s0: %{{[0-9]+}} %{{[0-9]+}}
// ACTIONS-NEXT:   free %{{[0-9]+}}
// ACTIONS-NEXT:   free %{{[0-9]+}}
// ACTIONS-NEXT:   send transfer 0: %{{[0-9]+}}
// ACTIONS-NEXT:   free %{{[0-9]+}}
// ACTIONS-NEXT: m1:
// ACTIONS-NEXT:   recv transfer 0: %{{[0-9]+}}
// ACTIONS-NEXT:   run s1: %{{[0-9]+}} %{{[0-9]+}}

// MODULE: mpmd.fragment_call<mesh="m1", origin=["s1"]> @p1_s1.main

// PLAN: Timeline:
// PLAN: wrote {{.*}}.json

// TABLE: Schedules, the fastest one first

// ADVICE: {{m[01]}} takes 1.0{{.*}} times the mean
// ADVICE: wrote {{.*}}.html
// PAGE: data-name="p0_s0.main"

// FUNCTION: error: '--microbatches' needs a function, as FILE.py:FUNCTION, got
// ADVISED: Timeline:
// ADVISED-NOT: Outputs
// PYTHON: error: '{{.*}}.py:f' is Python: {{.*}} needs '--microbatches'
// NUMBERS: error: '--microbatches=four': expected numbers, as in '4,8'
// MESH: error: the topology has no mesh 'm2'
// FORM: error: '--assign=s0': expected 'name@mesh', got 's0'
// TOPOLOGY: error: '--topology=x:2': expected different names
// OTHER-NOT: warning
// OTHER: takes no program for several meshes (MPMD): use 'sdy-mpmd'
// AGAIN-NOT: warning
// AGAIN: error: the program is partitioned already: pass the one that it was made from

#topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>
func.func @main(%w0: tensor<4xf32>, %w1: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #topology} {
  %0 = mpmd.named_computation<"s0"> (%w0, %x) (%b: tensor<4xf32>, %c: tensor<4xf32>) {
    %1 = stablehlo.add %b, %c : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.tanh %0 : tensor<4xf32>
  %3 = mpmd.named_computation<"s1"> (%w1, %2) (%b: tensor<4xf32>, %c: tensor<4xf32>) {
    %1 = stablehlo.multiply %b, %c : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
