# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Backends of other projects: IREE runs the corpus, XLA keeps what it compiles."""

import numpy as np
import pytest
from case_counts import spread
from corpus_programs import PROGRAMS, CorpusProgram

from mlir_sdy.assembly import parse
from pyshardy.api import propagate
from pyshardy.backends import CompileOptions
from pyshardy.backends.iree.engine import TARGETS, vmfb_of
from pyshardy.backends.xla import program as xla_program
from pyshardy.backends.xla.program import local_xla_program
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.process_groups import Layout
from pyshardy.program import partition, run_unpartitioned

FAST_TO_COMPILE = CompileOptions(optimization=0)

ON_IREE = (
    "cond_on_scalar",
    "fourier",
    "mesh_of_three_axes",
    "mixed_precision",
    "moe_sorted_dispatch",
    "nested_calls",
    "op_cholesky",
    "op_max_pool_gradient",
    "op_pad_interior",
    "op_scatter_max",
    "op_top_k",
    "triangular_solve_right",
)
"""Small programs of all kinds, and those that need what IREE lacks or gets wrong."""

TEXT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %z = stablehlo.constant dense<1.5> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""


@pytest.fixture
def program(context):
    module = parse(TEXT, context)
    propagate(module)
    return partition(module)


@pytest.mark.parametrize("name", spread(ON_IREE, 4))
def test_iree(context, name):
    (path,) = (path for path in PROGRAMS if path.stem == name)
    corpus = CorpusProgram(path, context)
    expected = corpus.expected()
    found = corpus.program.run(corpus.inputs, "iree", FAST_TO_COMPILE)
    assert all(each.is_small for each in corpus.differences(found, expected))


@pytest.mark.parametrize("target", TARGETS)
def test_files_for_iree(program, target):
    """Also with collectives, and for GPUs that aren't there."""
    data = vmfb_of(program.module, target, 0)
    assert target.removeprefix("llvm-").encode() in data
    assert b"hal.command_buffer.collective" in data


def test_iree_keeps_files(program, tmp_path):
    options = CompileOptions(optimization=0, cache_directory=str(tmp_path))
    numbers = np.arange(4, dtype=np.float32)
    assert program.run([numbers], "iree", options) == [7.5]
    files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert files
    engine = program.compile("iree", options)._engine
    engine.close()  # The next process finds the files.
    assert program.run([numbers], "iree", options) == [7.5]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == files


def test_xla_compiles_equal_programs_once(program):
    layout = Layout(1, 2)
    first = local_xla_program(program.module, layout)
    assert local_xla_program(program.module, layout).was_compiled_before
    assert not local_xla_program(program.module, Layout(2, 1)).was_compiled_before
    assert first.compile_seconds > 0


def test_xla_keeps_files(program, tmp_path, monkeypatch):
    options = str(tmp_path / "new")
    start = xla_program.xla_process.__wrapped__
    monkeypatch.setattr(xla_program, "xla_process", start)  # a new process each time
    for is_second in (False, True):
        compiled = local_xla_program(program.module, Layout(1, 2), "cpu", options)
        assert compiled.was_compiled_before == is_second
        scattered = program.scatter([np.arange(4, dtype=np.float32)])
        assert program.gather(compiled.run(scattered)) == [7.5]
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_gpus_that_are_not_there(program):
    with pytest.raises(ExecutionError, match="the program runs on 2 GPU devices") as failure:
        program.run([np.arange(4, dtype=np.float32)], "xla-gpu")
    assert len(failure.value.diagnostics) == 1
    # The process with CPU devices is another one.
    assert program.run([np.arange(4, dtype=np.float32)], "xla") == [7.5]


RECURSIVE = """
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = func.call @doubled(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @doubled(%a: tensor<f32>) -> tensor<f32> {
  %limit = stablehlo.constant dense<100.0> : tensor<f32>
  %0 = stablehlo.compare LT, %a, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %1 = "stablehlo.if"(%0) ({
    %2 = stablehlo.add %a, %a : tensor<f32>
    %3 = func.call @doubled(%2) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %1 : tensor<f32>
}"""


def test_recursion(context):
    """XLA crashes on it, and IREE doesn't end."""
    module = parse(RECURSIVE, context)
    for backend in ("interpreter", "jit"):
        assert run_unpartitioned(module, [np.float32(3)], backend) == [192]
    for backend, name in (("xla", "XLA"), ("iree", "IREE")):
        message = f"function 'doubled' calls itself: .* compiled by {name}: run it with the"
        with pytest.raises(ExecutionError, match=message):
            run_unpartitioned(module, [np.float32(3)], backend)
