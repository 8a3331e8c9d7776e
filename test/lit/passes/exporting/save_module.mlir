// RUN: mkdir -p %t.dir
// RUN: sdy-opt %s '-sdy-save-module=directory=%t.dir name=here index=3' | FileCheck %s
// RUN: FileCheck %s < %t.dir/03.here.mlir
// RUN: sdy-opt %s -sdy-save-module=directory=%t.dir/missing 2>&1 | FileCheck %s --check-prefixes=MISSING,CHECK
// RUN: sdy-opt %s -sdy-save-module | FileCheck %s

// The pipeline goes on without the directory.
// MISSING: warning: cannot save the module to '{{.*}}missing{{.}}00.module.mlir': No such file or directory

// CHECK: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}
