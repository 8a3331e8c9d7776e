// Each form of expectation holds.

// RUN: sdy-opt %s --split-input-file --verify-diagnostics --transform-interpreter

module attributes {transform.with_named_sequence} {
  // expected-remark@below {{function}}
  func.func @f() {
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.debug.emit_remark_at %f, "a function" : !transform.any_op
    transform.debug.emit_remark_at %root, "unlocated?" : !transform.any_op
    transform.yield
  }
}
// expected-remark-re@-13 {{{{un|re}}located?}}

// -----

func.func @f() {
  // expected-error@+2 {{custom op 'func.nonsense' is unknown}}
  // expected-error-re@below 0 {{not {{.*}} at all}}
  func.nonsense
}

// -----

func.func @f() -> i32 {
  return %a : i32 // expected-error {{use of undeclared}}
}

// -----

// What C++ Shardy reports next may be expected.
// expected-error@+2 {{axis size must be at least 1, got: 0}}
// expected-error@+1 {{failed to parse Sdy_Mesh parameter 'axes' which is to be a `::llvm::ArrayRef<MeshAxisAttr>`}}
sdy.mesh @mesh = <["a"=0]>

// -----

// expected-error@+1 {{axis size must be at least 1, got: 0}}
sdy.mesh @mesh = <["a"=0]>
