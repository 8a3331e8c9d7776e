// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: sdy-run %s --mesh=mesh=x:2,y:3 | FileCheck %s
// RUN: sdy-run %s --mesh=x:4,z:2 --no-check | FileCheck %s --check-prefix=UNNAMED
// RUN: not sdy-run %s --mesh=a:8 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not sdy-run %s --mesh=8 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not sdy-run %s --mesh=x:2,x:2 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sdy-opt %s -emit-bytecode -o %t.mlirbc
// RUN: sdy-run %t.mlirbc --mesh=x:3 --no-check | FileCheck %s --check-prefix=BYTECODE
// RUN: sed 's/^\/\/ANOTHER //' %s > %t.two.mlir
// RUN: not sdy-run %t.two.mlir --mesh=x:2 2>&1 | FileCheck %s --check-prefix=SEVERAL

// CHECK: 6 devices, mesh <["x"=2, "y"=3]>
// CHECK: %a tensor<12xf32> <@mesh, [{"x"}]> tensor<6xf32>
// CHECK: OK: the results match those of the unpartitioned program
// UNNAMED: 8 devices, mesh <["x"=4, "z"=2]>
// UNNAMED: %a tensor<12xf32> <@mesh, [{"x"}]> tensor<3xf32>
// AXES: --mesh:1:1: error: the program has shardings that don't fit this mesh
// AXES-NEXT: a:8
// AXES-NEXT: ^
// AXES-NEXT: mesh.mlir:[[# @LINE + 8]]:1: note: {{.*}}unknown axis {{.*}}"x"
// FORM: sdy-run: error: '--mesh=8' is not a mesh: expected a form such as 'mesh=data:4,model:2' or 'data:4,model:2'
// TWICE: sdy-run: error: '--mesh=x:2,x:2' is not a mesh: {{.*}}"x"
// BYTECODE: 3 devices, mesh <["x"=3]>
// SEVERAL: sdy-run: error: the program has several meshes, 'mesh', 'other': select one, as in '--mesh=mesh=data:4,model:2'
sdy.mesh @mesh = <["x"=2]>
//ANOTHER sdy.mesh @other = <["y"=2]>

func.func @main(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<12xf32> {
  %0 = stablehlo.add %a, %a : tensor<12xf32>
  return %0 : tensor<12xf32>
}
