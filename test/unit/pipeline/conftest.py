# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules to run passes on, and passes registered for one test only."""

from collections.abc import Callable, Iterator

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.pipeline import register_pass, register_pipeline, unregister

TWO_FUNCTIONS = """\
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  %1 = stablehlo.add %a, %a : tensor<8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func @g() {
  return
}
"""


@pytest.fixture(scope="session")
def context() -> Context:
    return Context()


@pytest.fixture
def module(context: Context) -> ir.Module:
    return parse(TWO_FUNCTIONS, context, "two.mlir")


@pytest.fixture
def add_pass() -> Iterator[Callable[..., None]]:
    """Registers a pass, or a pipeline when it has no anchor, until the end of the test."""
    added: set[str] = set()

    def add(name: str, function: Callable[..., object], anchor: str | None = "builtin.module"):
        if anchor is None:
            register_pipeline(name)(function)
        else:
            register_pass(name, anchor=anchor, replace=name in added)(function)
        added.add(name)

    yield add
    for name in added:
        unregister(name)
