# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Export passes as functions."""

import subprocess
import sys

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from pyshardy.passes import exporting
from pyshardy.pipeline import passes

TEXT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) {
  return
}
"""


@pytest.mark.parametrize("name", exporting.__all__)
def test_every_pass_is_a_function(name):
    function = getattr(exporting, name)
    assert callable(function)
    assert function.__doc__
    assert passes()[f"sdy-{name.replace('_', '-')}"].function is function


def test_a_pass_changes_the_module():
    module = parse(TEXT, Context())
    exporting.close_shardings(module)
    exporting.inline_meshes(module)
    assert '<mesh<["x"=2]>, [{"x"}]>' in asm(module)


def test_reached_from_the_project():
    program = "import pyshardy as sdy; print(sdy.passes.exporting.close_shardings.__name__)"
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert printed.strip() == "close_shardings"


def test_unknown_names():
    with pytest.raises(AttributeError, match="no_such_pass"):
        _ = exporting.no_such_pass
