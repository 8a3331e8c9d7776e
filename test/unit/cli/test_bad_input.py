# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a user can get wrong: one diagnostic with its place, status 1, and no traceback."""

import pytest

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'


def function(sharding: str) -> str:
    return (
        MESH
        + f"func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<{sharding}>}})"
        + " -> tensor<8x8xf32> {\n  %0 = stablehlo.negate %a : tensor<8x8xf32>\n"
        + "  return %0 : tensor<8x8xf32>\n}\n"
    )


UNHEARD_OF = """\
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = math.absf %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""

CASES = {
    "malformed text": (
        [],
        'sdy.mesh @mesh = <["x"=]>',
        """<stdin>:1:24: error: expected integer value: the axis size, found ']'""",
    ),
    "no such mesh": ([], function("@grid, [{}, {}]"), "<stdin>:2:67: error: 'func.func' op arg 0"),
    "an axis used twice": (
        [],
        function('@mesh, [{"x"}, {"x"}]'),
        """<stdin>:2:83: error: 'func.func' op arg 0 - duplicate axis""",
    ),
    "another rank": (
        [],
        function('@mesh, [{"x"}]'),
        "<stdin>:2:53: error: 'func.func' op arg 0 - sharding doesn't match tensor rank",
    ),
    "no MLIR": ([], "SELECT * FROM meshes;", "<stdin>:1:1: error: "),
    "an operation of MLIR that is wrong": (
        [],
        function('@mesh, [{"x"}, {}]').replace("return %0", "return %9"),
        "<stdin>:4:10: error: use of undeclared SSA value",
    ),
    "a value with two letters exchanged": (
        [],
        function('@mesh, [{"x"}, {}]').replace("%0", "%sum").replace("return %sum", "return %smu"),
        "<stdin>:4:10: error: use of undeclared SSA value name '%smu'; did you mean '%sum'?",
    ),
    "an operation with two letters exchanged": (
        [],
        function('@mesh, [{"x"}, {}]').replace("negate", "tahn"),
        "<stdin>:3:8: error: custom op 'stablehlo.tahn' is unknown; did you mean 'stablehlo.tanh'?",
    ),
    "a pipeline on functions": (
        ["--pass-pipeline=cse,func.func(sdy-propagation-pipeline)"],
        MESH,
        "<pass-pipeline>:1:15: error: pipeline 'sdy-propagation-pipeline': pass "
        "'sdy-plan-at-hints' runs on 'builtin.module', not within 'func.func(...)'",
    ),
    "an unknown pass": (["-sdy-basic-propogate"], MESH, "did you mean '--sdy-basic-propagate'?"),
    "an unknown pass in a pipeline": (
        ["--pass-pipeline=builtin.module(sdy-nothing)"],
        MESH,
        "<pass-pipeline>:1:16: error: unknown pass 'sdy-nothing'",
    ),
    "an unknown option": (
        ["--pass-pipeline=builtin.module(sdy-basic-propagate{keep=true})"],
        MESH,
        "<pass-pipeline>:1:36: error: pass 'sdy-basic-propagate': no option 'keep'",
    ),
    "a bad value of an option": (
        ["-sdy-basic-propagate=keep-sharding-rules=maybe"],
        MESH,
        "'maybe'",
    ),
    "an operation without a rule": (
        ["--strict-rules", "-sdy-basic-propagate"],
        MESH + UNHEARD_OF,
        "<stdin>:3:8: error: op 'math.absf' is unknown to SDY sharding rule registry",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input(sdy_opt, name):
    arguments, text, expected = CASES[name]
    result = sdy_opt("-", *arguments, stdin=text)
    assert result.status == 1
    assert result.out == ""
    assert expected in result.err
    assert result.err.count("error:") == 1
    assert "Traceback" not in result.err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(sdy_opt, encoding):
    result = sdy_opt("-", stdin=MESH.encode(encoding))
    assert result.status == 1
    assert result.err == "<stdin>:1:1: error: the file looks like UTF-16; save it as UTF-8\n"


def test_a_byte_order_mark(sdy_opt):
    result = sdy_opt("-", stdin=MESH.encode("utf-8-sig"))
    assert (result.status, result.err) == (0, "")
    wrong = sdy_opt("-", stdin="mesh {}".encode("utf-8-sig"))
    assert wrong.err.startswith("<stdin>:1:1: error: ")


def test_another_encoding(sdy_opt):
    result = sdy_opt("-", stdin=MESH.encode() + "  // café\n".encode("latin-1"))
    assert result.err.startswith("<stdin>:2:9: error: the file is neither bytecode nor UTF-8 text")
    assert result.err.endswith("  // caf\ufffd\n        ^\n")


def test_an_unreadable_file(sdy_opt, tmp_path):
    for path, reason in ((tmp_path / "none.mlir", "No such file"), (tmp_path, "Is a directory")):
        result = sdy_opt(str(path))
        assert result.status == 1
        assert result.out == ""
        assert f"cannot open input file '{path}': {reason}" in result.err


def test_an_operation_without_a_rule_is_a_warning_otherwise(sdy_opt):
    result = sdy_opt("-", "-sdy-basic-propagate", stdin=MESH + UNHEARD_OF)
    assert result.status == 0
    assert (
        "<stdin>:3:8: warning: op 'math.absf' is unknown to SDY sharding rule registry"
        in result.err
    )
    assert '@sharding_rule("math.absf")' in result.err
