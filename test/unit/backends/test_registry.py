# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Backends by name: which there are, what they lack, and those of users."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError
from pyshardy.api import propagate
from pyshardy.backends import CompileOptions, Registration, backend_names, local_engine, registry
from pyshardy.program import partition

TEXT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@pytest.fixture
def without(monkeypatch):
    """Lets modules of some names seem not to be installed."""
    real = importlib.util.find_spec

    def hide(*names: str) -> None:
        monkeypatch.setattr(
            registry.importlib.util,
            "find_spec",
            lambda name: None if name in names else real(name),
        )

    return hide


@pytest.fixture
def program(context):
    module = parse(TEXT, context)
    propagate(module)
    return partition(module)


@pytest.mark.parametrize(
    ("backend", "module", "complaint"),
    [
        (
            "iree",
            "iree.compiler",
            "'iree-base-compiler', which is missing; .* pip install .*\\[iree\\]",
        ),
        ("xla", "jaxlib", "'jaxlib', which is missing; install it by: pip install .*\\[jax\\]"),
        ("xla-gpu", "jaxlib", "the backend 'xla-gpu' needs the package 'jaxlib'"),
    ],
)
def test_a_missing_package(program, without, backend, module, complaint):
    without(module)
    with pytest.raises(UsageError, match=complaint):
        program.run([np.ones(4, np.float32)], backend)


def test_the_fastest_that_is_installed(without):
    assert registry.registered("auto").name == "xla"
    without("jaxlib")
    assert registry.registered("auto").name == "jit"


def test_an_engine_is_asked_for_that_is_none():
    with pytest.raises(UsageError, match="'xla' is not a local engine"):
        local_engine("xla")


def test_one_engine_for_equal_options():
    engine = local_engine("jit", CompileOptions(optimization=0))
    assert local_engine("jit", CompileOptions(optimization=0)) is engine
    assert local_engine("jit", CompileOptions(optimization=1)) is not engine


def test_programs_are_compiled_once_for_equal_options(program):
    options = CompileOptions(optimization=0)
    assert program.compile("jit", options) is program.compile("jit", options)
    assert program.compile("jit", options) is not program.compile("jit")


class Twice:
    """A backend that knows nothing but to double."""

    def __init__(self, factor):
        self._factor = factor

    def compile(self, *_):
        return self

    def run(self, inputs):
        return [[array * self._factor for array in arrays] for arrays in inputs]


def test_a_backend_of_a_user(program):
    registry.register_backend(
        Registration("twice", f"{__name__}:Twice", "doubles", arguments={"factor": 3})
    )
    try:
        assert "twice" in backend_names()
        assert program.run([np.arange(4, dtype=np.float32)], "twice")[0].tolist() == [0, 3, 6, 9]
    finally:
        registry.unregister_backend("twice")
    assert "twice" not in backend_names()


def test_nothing_is_imported_for_the_names():
    code = """
import sys
from pyshardy.backends import backend_names
assert {"interpreter", "jit", "iree", "xla", "xla-gpu", "auto"} <= set(backend_names())
print([name for name in ("torch_mlir", "numpy", "jaxlib", "iree") if name in sys.modules])
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert process.stdout.strip() == b"[]"
