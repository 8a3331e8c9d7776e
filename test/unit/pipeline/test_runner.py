# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running pipelines: what passes get, and what is left when one fails."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import (
    PassError,
    SourceLocation,
    UsageError,
    collect,
    emit,
    error,
    warning,
)
from mlir_sdy.host import ir
from pyshardy.pipeline import Instrumentation, PipelineError, canonicalize, passes, run_pipeline


class Recorder(Instrumentation):
    def __init__(self):
        self.events: list[str] = []

    def before_pipeline(self, _, steps):
        self.events.append(f"begin {len(steps)}")

    def before_pass(self, step, _):
        self.events.append(f"before {step.argument}")

    def after_pass(self, step, _):
        self.events.append(f"after {step.argument}")

    def after_failed_pass(self, step, _):
        self.events.append(f"failed {step.argument}")

    def after_pipeline(self, _):
        self.events.append("end")

    def after_failed_pipeline(self, failure):
        self.events.append(f"end of {failure.failed_pass}")


def erase_everything(module: ir.Module) -> None:
    for operation in list(module.body.operations):
        operation.operation.erase()
    module.operation.attributes["t.broken"] = ir.UnitAttr.get()


def test_python_and_host_passes_run_in_order(module: ir.Module, add_pass):
    counts: list[int] = []
    add_pass("count", lambda module: counts.append(str(module).count("stablehlo.add")))
    recorder = Recorder()
    run_pipeline(module, "count,func.func(cse),count", instrumentation=[recorder])
    assert counts == [2, 1]
    assert recorder.events == [
        "begin 3",
        *["before count", "after count"],
        *["before cse", "after cse"],
        *["before count", "after count"],
        "end",
    ]


def test_function_passes_get_each_function_and_their_options(module: ir.Module, add_pass):
    seen: list[tuple[str, int]] = []

    def look(function, *, times: int = 1) -> None:
        seen.append((function.name.value, times))

    add_pass("look", look, anchor="func.func")
    run_pipeline(module, "look,func.func(look{times=3})")
    assert seen == [("f", 1), ("g", 1), ("f", 3), ("g", 3)]


def test_passes_on_operations_that_do_not_exist(module: ir.Module, add_pass):
    add_pass("on-misspelled", erase_everything, anchor="func.fun")
    with collect() as said:
        run_pipeline(module, "on-misspelled,func.fun(cse),func.func(cse)")
    texts = [each.message for each in said]
    know = "never runs: the context has no operation 'func.fun'; did you mean 'func.func'?"
    assert texts == [f"'on-misspelled' {know}", f"'cse' {know}"]


def test_nothing_runs_when_the_pipeline_has_an_error(module: ir.Module, add_pass):
    add_pass("erase", erase_everything)
    before = str(module)
    with pytest.raises(UsageError):
        run_pipeline(module, "erase,nonsense")
    assert str(module) == before


def test_a_failing_pass_is_named_and_undone(module: ir.Module, add_pass):
    def fail(module: ir.Module) -> None:
        erase_everything(module)
        raise PassError(error("can't", SourceLocation("two.mlir", 2, 8)))

    add_pass("fail", fail)
    before = str(module)
    recorder = Recorder()
    with pytest.raises(
        PipelineError, match=r"^pass 'fail' failed\ntwo\.mlir:2:8: error: can't$"
    ) as e:
        run_pipeline(module, "cse,fail,cse", instrumentation=[recorder])
    assert recorder.events[-2:] == ["failed fail", "end of fail"]
    assert e.value.failed_pass == "fail"
    assert str(module) == before
    assert module.operation.verify()
    assert str(e.value.module_at_failure) == "module attributes {t.broken} {\n}\n"


def test_the_failed_state_can_be_kept(module: ir.Module, add_pass):
    def fail(module: ir.Module) -> None:
        erase_everything(module)
        raise PassError(error("can't"))

    add_pass("fail", fail)
    with pytest.raises(PipelineError) as raised:
        run_pipeline(module, "fail", restore_on_failure=False)
    assert str(module) == "module attributes {t.broken} {\n}\n"
    assert raised.value.module_at_failure is None


def test_a_bug_in_a_pass_becomes_a_diagnostic(module: ir.Module, add_pass):
    def divide(function) -> None:
        if function.name.value == "g":
            print(1 / 0)

    add_pass("divide", divide, anchor="func.func")
    with pytest.raises(PipelineError) as raised:
        run_pipeline(module, "divide")
    (diagnostic,) = raised.value.diagnostics
    error, note = str(diagnostic).splitlines()
    assert error == (
        "two.mlir:7:1: error: internal error in pass 'divide': ZeroDivisionError: division by zero"
    )
    line = divide.__code__.co_firstlineno + 2
    assert note.endswith(f"test_runner.py:{line}: note: it was raised here")
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_a_bug_in_a_callback_of_the_host_is_told_in_one_line(module: ir.Module, add_pass):
    def look_up(operation: ir.Operation) -> ir.WalkResult:
        raise KeyError(operation.name)

    add_pass("walk", lambda module: module.operation.walk(look_up))
    with pytest.raises(PipelineError) as raised:
        run_pipeline(module, "walk")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == "internal error in pass 'walk': KeyError: 'stablehlo.add'"


def test_a_failing_host_pass(module: ir.Module):
    with pytest.raises(PipelineError, match="could not find a nested named sequence") as raised:
        run_pipeline(module, "cse,transform-interpreter")
    assert raised.value.failed_pass == "transform-interpreter"


def test_a_host_pass_that_fails_silently(context):
    module = ir.Module.parse("module {}", context)
    with pytest.raises(
        PipelineError, match="'stablehlo-refine-shapes' failed without a diagnostic"
    ):
        run_pipeline(module, "stablehlo-refine-shapes")


def test_each_pass_is_verified(module: ir.Module, add_pass):
    def break_it(function) -> None:
        for operation in list(function.entry_block.operations)[-1:]:
            operation.operation.erase()

    add_pass("break-it", break_it, anchor="func.func")
    with pytest.raises(PipelineError, match="pass 'break-it' failed") as raised:
        run_pipeline(module, "break-it")
    assert raised.value.diagnostics[0].location is not None
    run_pipeline(module, "break-it", verify_each=False)


def test_sdy_attributes_are_verified(context, add_pass):
    module = parse(
        """
        sdy.mesh @mesh = <["x"=2]>
        func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
          return
        }""",
        context,
    )
    add_pass("erase-mesh", lambda module: module.body.operations[0].operation.erase())
    with pytest.raises(PipelineError, match="mesh"):
        run_pipeline(module, "erase-mesh")


def test_warnings_of_python_and_host_passes_are_emitted(context, add_pass):
    module = ir.Module.parse(
        """
        module attributes {transform.with_named_sequence} {
          transform.named_sequence @__transform_main(%root: !transform.any_op) {
            transform.debug.emit_remark_at %root, "here" : !transform.any_op
            transform.yield
          }
        }""",
        context,
    )
    add_pass("warn", lambda _: emit(warning("careful")))
    with collect() as diagnostics:
        run_pipeline(module, "warn,transform-interpreter")
    assert [diagnostic.message for diagnostic in diagnostics] == ["careful", "here"]
    assert diagnostics[1].severity.value == "remark"


def test_a_bug_in_a_pattern_of_canonicalize_is_a_failure(monkeypatch, context):
    """The patterns run between those of the host, whose driver lets exceptions through."""

    def broken(*_: object, **__: object) -> bool:
        raise KeyError("nothing")

    monkeypatch.setattr(canonicalize, "apply_patterns", broken)
    module = parse("func.func private @f()", context, "f.mlir")
    with pytest.raises(PipelineError, match="internal error in pass 'canonicalize': KeyError"):
        run_pipeline(module, "canonicalize")
    assert "@f" in asm(module)


HARDWARE_PASSES = [
    info for info in passes().values() if any(each.name == "hardware" for each in info.options)
]


@pytest.mark.parametrize("info", HARDWARE_PASSES, ids=lambda info: info.argument)
def test_unknown_hardware_is_an_error_also_with_nothing_to_do(info, context):
    module = parse("func.func @main(%a: tensor<8xf32>) { return }", context)
    use = f"{info.argument}{{hardware=abacus}}"
    pipeline = use if info.anchor == "builtin.module" else f"{info.anchor}({use})"
    with pytest.raises(PipelineError, match="unknown hardware 'abacus'"):
        run_pipeline(module, pipeline)
