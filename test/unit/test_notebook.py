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
    assert "'sdy.explain' takes a function" in capsys.readouterr().err


def test_modules_are_displayed_as_text(shell, capsys):
    module = sdy.parse(PROGRAM)
    data, _ = shell.display_formatter.format(module)
    assert "sdy.mesh @mesh" in data["text/plain"]
    assert "&quot;x&quot;=2" in data["text/html"]
    capsys.readouterr()


def test_a_misspelled_operation_is_one_message(shell, capsys):
    wrong = PROGRAM.replace("sdy.mesh", "sdy.mehs")
    first = wrong.strip().splitlines()[0]
    for cell in (wrong, first):
        assert result_of(shell, f"%%sdy\n{cell}") is None
        said = capsys.readouterr().err
        assert "did you mean 'sdy.mesh'?" in said
        assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sdy.mehs({'x': 2})", "has no attribute 'mehs'"),
        ("n = 1\nmodul", "<cell>:2: error: name 'modul' is not defined; did you mean 'module'?"),
        ("module +", "<cell>:1:9: error: the cell is no Python: invalid syntax"),
        ("n = 1", "end in an expression"),
    ],
)
def test_mistakes_in_python_are_one_message(shell, capsys, code, expected):
    shell.user_ns.update(sdy=sdy, module=sdy.parse(PROGRAM))
    assert result_of(shell, f"%%sdy\n{code}") is None
    said = capsys.readouterr().err
    assert expected in said
    assert len(said.splitlines()) == 1


def test_exceptions_of_the_users_functions_have_their_traceback(shell, capsys):
    shell.run_cell("def build():\n    return undefined")
    result = shell.run_cell("%%sdy\nbuild()")
    assert isinstance(result.error_in_exec, NameError)
    assert "build()" in capsys.readouterr().out


@pytest.mark.parametrize("cell", ["%%sdy --help", "%%sdy --help\n", "%%sdy --help\nmodule"])
def test_help(shell, capsys, cell):
    assert result_of(shell, cell) is None
    said = capsys.readouterr().out
    assert "Partition and explain the program in the cell" in said
    assert "--passes" in said


def test_what_passes_change(shell, capsys):
    shell.user_ns["module"] = module = sdy.parse(PROGRAM)
    before = sdy.asm(module)
    diff = result_of(shell, "%%sdy --passes=sdy-propagation-pipeline\nmodule")
    assert sdy.asm(module) == before
    assert '+  sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh' in str(diff)
    assert '<span style="color: #22863a">+' in diff._repr_html_()
    same = result_of(shell, "%%sdy --passes=canonicalize\nmodule")
    assert str(same) == "no line differs"
    assert result_of(shell, f"%%sdy --passes=cononicalize\n{PROGRAM}") is None
    assert "did you mean 'canonicalize'?" in capsys.readouterr().err
