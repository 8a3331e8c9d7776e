# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Printing the IR around passes, timing, and reproducers."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir
from mlir_sdy.stages import listening
from pyshardy.pipeline import CrashReproducer, IRPrinting, PipelineError, Timing, run_pipeline
from pyshardy.pipeline.instrumentation import Everything
from pyshardy.pipeline.plan import plan_pipeline
from pyshardy.pipeline.reproducer import Reproducer, read_reproducer


def fail(_: ir.Module) -> None:
    raise PassError(error("can't"))


def printed(module: ir.Module, pipeline: str, **how) -> str:
    stream = io.StringIO()
    with contextlib.suppress(PipelineError):
        run_pipeline(module, pipeline, instrumentation=[IRPrinting(stream=stream, **how)])
    return stream.getvalue()


def headers(text: str) -> list[str]:
    return re.findall(r"^// -----// IR Dump (.*) //----- //$", text, re.MULTILINE)


def test_printing_around_chosen_passes(module: ir.Module):
    text = printed(module, "cse,canonicalize", before={"canonicalize"}, after={"cse"})
    assert headers(text) == ["After Cse (cse)", "Before Canonicalize (canonicalize)"]
    assert text.count("module {") == 2


def test_function_passes_print_functions(module: ir.Module):
    text = printed(module, "func.func(cse)", after=Everything())
    assert headers(text) == ["After Cse (cse)"] * 2
    assert "module" not in text


def test_module_scope(module: ir.Module):
    text = printed(module, "func.func(cse)", after=Everything(), module_scope=True)
    assert headers(text) == [
        "After Cse (cse) ('func.func' operation: @f)",
        "After Cse (cse) ('func.func' operation: @g)",
    ]
    assert text.count("module {") == 2


def test_only_what_changed(module: ir.Module):
    text = printed(module, "func.func(cse),cse", after=Everything(), only_changed=True)
    assert headers(text) == ["After Cse (cse)"]
    assert "@f" in text
    assert "@g" not in text


def test_after_failure(module: ir.Module, add_pass):
    add_pass("fail", fail)
    assert headers(printed(module, "cse,fail", after_failure=True)) == ["After Fail Failed (fail)"]


def test_timing(module: ir.Module):
    timing = Timing()
    with timing.measure("Parser"):
        pass
    for _ in range(2):
        run_pipeline(module, "cse,func.func(canonicalize,cse),cse", instrumentation=[timing])
    with timing.measure("Output"):
        pass
    lines = timing.report().splitlines()
    assert "... Execution time report ..." in lines[1]
    row = re.compile(r"^  +(\d+\.\d{4}) \( *(\d+\.\d)%\)  (.*)$")
    rows = [match for line in lines if (match := row.match(line))]
    assert [match[3] for match in rows] == [
        *["Parser", "Cse", "'func.func' Pipeline", "  Canonicalize", "  Cse", "Cse", "Output"],
        *["Rest", "Total"],
    ]
    assert sum(float(match[2]) for match in rows if match[3][0] != " ") == pytest.approx(200, abs=1)


def test_verification_has_a_row_of_its_own(module: ir.Module, add_pass):
    def nothing(module: ir.Module) -> None:
        del module

    add_pass("nothing", nothing)
    timing = Timing()
    with listening(timing.on_stages), timing.measure("Parser"):
        parse(MESHES, module.context)
    with listening(timing.on_stages):
        run_pipeline(module, "nothing", instrumentation=[timing])
    rows = names_of_rows(timing.report())
    assert rows == ["Parser", "Verification", "Nothing", "Rest", "Total"]


MESHES = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""


def names_of_rows(report: str) -> list[str]:
    return re.findall(r"%\)  (.*)$", report, re.MULTILINE)


def seconds_of_rows(report: str) -> dict[str, float]:
    rows = re.findall(r"^ +(\d+\.\d{4}) \(.*%\)  (.*)$", report, re.MULTILINE)
    return {name.strip(): float(seconds) for seconds, name in rows}


def test_analyses_have_rows_below_the_pass_that_asks_first(context):
    timing = Timing()
    passes = "sdy-lift-inlined-meshes,sdy-remove-size-one-axes"
    run_pipeline(parse(MESHES, context), passes, instrumentation=[timing])
    assert names_of_rows(timing.report()) == [
        "LiftInlinedMeshesPass",
        "  (A) result-kinds",
        "  (A) interface-shardings",
        "RemoveSizeOneAxesPass",
        "Rest",
        "Total",
    ]


def test_times_of_analyses_are_left_out_of_others(module: ir.Module, monkeypatch):
    """One analysis computes another: each has its own time, and the list counts none twice."""
    timing = Timing()
    now = iter([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(now))
    steps = plan_pipeline("cse")
    timing.before_pipeline(module, steps)
    timing.before_pass(steps[0], module)  # at 1
    timing.before_analysis("result-kinds", module.operation)  # at 2
    timing.before_analysis("interface-shardings", module.operation)  # at 4
    timing.after_analysis("interface-shardings", module.operation)  # at 8
    timing.after_analysis("result-kinds", module.operation)  # at 16
    timing.after_pass(steps[0], module)  # at 32
    nested, as_list = (seconds_of_rows(timing.report(as_list=each)) for each in (False, True))
    of_analyses = {"(A) interface-shardings": 4.0, "(A) result-kinds": 10.0}
    assert nested.items() >= {"Cse": 31.0, **of_analyses}.items()
    assert as_list.items() >= {"Cse": 17.0, **of_analyses}.items()


def test_a_reproducer_makes_the_pipeline_fail_again(
    module: ir.Module, context, add_pass, tmp_path: Path
):
    add_pass("fail", fail)
    path = tmp_path / "reproducer.mlir"
    before = str(module)
    with pytest.raises(PipelineError) as raised:
        run_pipeline(
            module, "func.func(cse),fail,cse", instrumentation=[CrashReproducer(path, True)]
        )
    told = str(raised.value)
    assert f"reproducer generated at '{path}'" in told
    assert f"sdy-opt --run-reproducer '{path}'" in told
    reproducer = read_reproducer(path.read_text())
    assert reproducer is not None
    assert reproducer.pipeline == "builtin.module(func.func(cse),fail,cse)"
    again = parse(reproducer.module_text, context)
    assert str(again) == before
    with pytest.raises(PipelineError, match="can't"):
        run_pipeline(again, reproducer.pipeline)


def test_a_reproducer_that_cannot_be_written(module: ir.Module, add_pass, tmp_path: Path):
    add_pass("fail", fail)
    path = tmp_path / "missing" / "reproducer.mlir"
    with pytest.raises(PipelineError, match="cannot write the reproducer"):
        run_pipeline(module, "fail", instrumentation=[CrashReproducer(path)])


@pytest.mark.parametrize("pipeline", ["builtin.module()", 'a{x="y z"}', "a{x='\\'}"])
@pytest.mark.parametrize("verify_each", [True, False])
def test_reproducer_text_reads_back(pipeline: str, verify_each: bool):
    reproducer = Reproducer("module {\n}", pipeline, verify_each)
    found = read_reproducer(str(reproducer))
    assert found is not None
    assert (found.pipeline, found.verify_each) == (pipeline, verify_each)
    assert found.module_text.strip() == "module {\n}"


def test_upstream_reproducers_are_read():
    text = """module {}
{-#
  dialect_resources: { builtin: { blob: "0x08000000" } },
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(inline{default-pipeline=canonicalize})",
      disable_threading: false,
      verify_each: false
    }
  }
#-}
"""
    found = read_reproducer(text)
    assert found is not None
    assert found.pipeline == "builtin.module(inline{default-pipeline=canonicalize})"
    assert not found.verify_each
    assert read_reproducer("module {}") is None
