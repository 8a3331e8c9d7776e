# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension of IPython explains the programs of cells, and displays modules as text."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

import pyshardy as sdy

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell.instance()
    assert shell.run_cell("%load_ext pyshardy").success
    yield shell
    InteractiveShell.clear_instance()


def result_of(shell, cell):
    result = shell.run_cell(cell)
    assert result.success
    return result.result


def test_mlir(shell, capsys):
    found = result_of(shell, f"%%sdy --name=plan --report-hardware=tpu-v5e\n{PROGRAM}")
    assert found is shell.user_ns["plan"]
    assert found.report_hardware == sdy.load_hardware("tpu-v5e")
    assert [each.collective.kind for each in found.collectives] == ["all_reduce"]
    assert "<summary>Program of each device</summary>" in found._repr_html_()
    capsys.readouterr()


@pytest.mark.parametrize("expression", ["module", "sdy.partition(module)", "sdy.explain(module)"])
def test_python(shell, expression, capsys):
    shell.user_ns.update(sdy=sdy, text=PROGRAM)
    prepare = "module = sdy.parse(text)\nrecord = sdy.propagate(module)\n"
    found = result_of(shell, f"%%sdy\n{prepare}{expression}")
    assert isinstance(found, sdy.ProgramExplanation)
    assert isinstance(shell.user_ns["record"], sdy.Propagation)
    capsys.readouterr()


def test_mistakes_are_told_in_a_line(shell, capsys):
    assert result_of(shell, "%%sdy\nfunc.func @main(") is None
    assert "-:1:17: error:" in capsys.readouterr().err
    assert result_of(shell, "%%sdy\n3") is None
    assert "expected a module" in capsys.readouterr().err


def test_modules_are_displayed_as_text(shell, capsys):
    module = sdy.parse(PROGRAM)
    data, _ = shell.display_formatter.format(module)
    assert "sdy.mesh @mesh" in data["text/plain"]
    assert "&quot;x&quot;=2" in data["text/html"]
    capsys.readouterr()
