# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tool from its arguments to its output, exit status and errors."""

import subprocess
import sys
from pathlib import Path

import pytest

from mlir_sdy.diagnostics import PassError, emit, error, remark
from pyshardy.pipeline import register_pass, unregister

PROGRAM = """\
sdy.mesh @mesh = <["x"=2]>
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  %1 = stablehlo.add %a, %a : tensor<8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


def test_a_file_and_standard_input_give_the_same(sdy_opt, program: str):
    from_file = sdy_opt(program)
    assert from_file.status == 0
    assert from_file.err == ""
    assert '#sdy.sharding<@mesh, [{"x"}]>' in from_file.out
    assert sdy_opt(stdin=PROGRAM) == sdy_opt("-", stdin=PROGRAM) == from_file
    assert sdy_opt(stdin=from_file.out) == from_file


def test_passes_by_flags_and_by_pipeline(sdy_opt, program: str):
    by_flags = sdy_opt(program, "-cse", "--canonicalize=max-iterations=3")
    by_pipeline = sdy_opt(program, "--pass-pipeline=builtin.module(cse,canonicalize)")
    assert by_flags == by_pipeline
    assert by_flags.out.count("stablehlo.add") == 1


def test_the_output_file(sdy_opt, program: str, tmp_path: Path):
    output = tmp_path / "out.mlir"
    result = sdy_opt(program, "-o", str(output))
    assert (result.status, result.out) == (0, "")
    assert output.read_text() == sdy_opt(program).out


def test_a_failure_leaves_the_output_file_alone(sdy_opt, program: str, tmp_path: Path):
    output = tmp_path / "out.mlir"
    output.write_text("precious")
    assert sdy_opt(program, "--transform-interpreter", "-o", str(output)).status == 1
    assert output.read_text() == "precious"


def test_forms_of_printing(sdy_opt, program: str):
    assert '"sdy.mesh"()' in sdy_opt(program, "--mlir-print-op-generic").out
    assert f'loc("{program}":3:8)' in sdy_opt(program, "--mlir-print-debuginfo").out


def test_bytecode(sdy_opt, program: str, tmp_path: Path):
    output = tmp_path / "out.mlirbc"
    assert sdy_opt(program, "--emit-bytecode", "-o", str(output)).status == 0
    assert output.read_bytes().startswith(b"ML\xefR")
    assert sdy_opt(str(output)) == sdy_opt(program)


def test_broken_bytecode(sdy_opt, tmp_path: Path):
    path = tmp_path / "broken.mlirbc"
    path.write_bytes(b"ML\xefR\x00junk")
    result = sdy_opt(str(path))
    assert result.status == 1
    assert result.err.startswith(f"{path}: error: ")


def test_unregistered_dialects(sdy_opt):
    text = 'func.func @f() {\n  "some.op"() : () -> ()\n  return\n}\n'
    refused = sdy_opt(stdin=text)
    assert refused.status == 1
    assert refused.err.startswith("<stdin>:2:12: error: operation being parsed with an unr")
    assert sdy_opt("--allow-unregistered-dialect", stdin=text).status == 0


def test_a_split_input(sdy_opt):
    text = "func.func @f() {\n  return\n}\n// -----\nnonsense\n// -----\nfunc.func @g() {return}\n"
    result = sdy_opt("--split-input-file", stdin=text)
    assert result.status == 1
    assert [piece.count("func.func") for piece in result.out.split("// -----\n")] == [1, 0, 1]
    assert result.err.startswith("<stdin>:5:1: error: ")
    assert result.err.splitlines()[1:] == ["nonsense", "^"]


def test_verified_diagnostics(sdy_opt):
    text = "// expected-error@+1 {{custom op 'a' is unknown}}\na\n// -----\nmodule {}\n"
    good = sdy_opt("--split-input-file", "--verify-diagnostics", stdin=text)
    assert (good.status, good.err) == (0, "")
    bad = sdy_opt("--split-input-file", "--verify-diagnostics", stdin=text.replace("+1", "+2"))
    assert bad.status == 1
    assert "<stdin>:2:1: error: unexpected error: custom op 'a' is unknown" in bad.err
    assert "error: expected error \"custom op 'a' is unknown\" was not produced" in bad.err


def test_diagnostics_of_python_passes_are_verified(sdy_opt):
    @register_pass("complain", anchor="func.func")
    def complain(function) -> None:
        emit(remark(f"seen {function.name.value}"))
        raise PassError(error("can't do it"))

    try:
        text = "// expected-remark@unknown {{seen f}}\n// expected-error@unknown {{can't}}\n"
        text += "func.func @f() { return }"
        assert sdy_opt("--complain", "--verify-diagnostics", stdin=text).status == 0
        result = sdy_opt("--complain", stdin=text)
    finally:
        unregister("complain")
    assert result.status == 1
    assert result.err == "sdy-opt: remark: seen f\nsdy-opt: error: can't do it\n"


def test_a_bug_in_a_pass_shows_no_traceback_unless_asked(sdy_opt):
    @register_pass("buggy")
    def buggy(_) -> None:
        raise KeyError("gone")

    try:
        quiet = sdy_opt("--buggy", stdin="module {}")
        loud = sdy_opt("--buggy", "--mlir-print-stacktrace-on-diagnostic", stdin="module {}")
    finally:
        unregister("buggy")
    assert quiet.status == loud.status == 1
    assert "internal error in pass 'buggy': KeyError: 'gone'" in quiet.err
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err


def test_watching(sdy_opt, program: str):
    result = sdy_opt(
        program, "--cse", "--canonicalize", "--mlir-print-ir-after-change", "--mlir-timing"
    )
    assert result.err.count("IR Dump After") == 1
    assert "IR Dump After Cse (cse)" in result.err
    assert "Execution time report" in result.err


def test_reproducing_a_failure(sdy_opt, program: str, tmp_path: Path):
    path = tmp_path / "reproducer.mlir"
    flag = f"--mlir-pass-pipeline-crash-reproducer={path}"
    result = sdy_opt(program, "--cse", "--transform-interpreter", flag)
    assert result.status == 1
    assert f"sdy-opt --run-reproducer '{path}'" in result.err
    again = sdy_opt("--run-reproducer", str(path))
    assert again.status == 1
    assert "could not find a nested named sequence" in again.err
    assert sdy_opt("--run-reproducer", program).err == (
        f"sdy-opt: error: '{program}' is not a reproducer: it has no pipeline\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nosuch.mlir", "cannot open input file 'nosuch.mlir': No such file or directory"),
        ("/", "cannot open input file '/': Is a directory"),
        ("--sdy-close-sharding", "'--sdy-close-sharding'; did you mean '--sdy-close-shardings'?"),
        ("--split-inpt-file", "'--split-inpt-file'; did you mean '--split-input-file'?"),
        ("--zzzzzz", "unknown flag or pass '--zzzzzz'"),
        ("--cse --pass-pipeline=cse", "cannot be combined with pass flags"),
        ("-o /nosuch/out.mlir", "cannot write output file '/nosuch/out.mlir': No such file"),
        (
            "--cse --mlir-print-ir-after=csee",
            "unknown pass 'csee' in '--mlir-print-ir-before/-after'; did",
        ),
    ],
)
def test_wrong_usage(sdy_opt, arguments: str, message: str):
    result = sdy_opt(*arguments.split(), stdin="module {}")
    assert result.status == 1
    assert result.out == ""
    assert result.err.startswith("sdy-opt: error: ")
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (
            ["--pass-pipeline=cse,csee"],
            [
                "<pass-pipeline>:1:5: error: unknown pass 'csee'; did you mean 'cse'?",
                "cse,csee",
                "    ^",
            ],
        ),
        (
            ["--cse", "--sdy-close-shardings=x"],
            [
                "<pass-pipeline>:1:25: error: pass 'sdy-close-shardings': no option 'x': "
                "'sdy-close-shardings' has no options",
                "cse,sdy-close-shardings{x}",
                " " * 24 + "^",
            ],
        ),
    ],
)
def test_errors_in_the_pipeline_show_it(sdy_opt, arguments: list[str], lines: list[str]):
    result = sdy_opt(*arguments, stdin="module {}")
    assert result.status == 1
    assert result.err.splitlines() == lines


def test_input_that_is_no_text(sdy_opt):
    result = sdy_opt(stdin=b"a\n\xff\xfe")
    assert result.status == 1
    first, *source = result.err.splitlines()
    assert first == (
        "<stdin>:2:1: error: the file is neither bytecode nor UTF-8 text: byte 0xff is not valid "
        "here (invalid start byte); save it as UTF-8"
    )
    assert source == ["\ufffd\ufffd", "^"]


def test_help_and_lists(sdy_opt):
    text = sdy_opt("--help").out
    assert "--sdy-basic-propagate=" not in text.replace("--sdy-basic-propagate='", "")
    assert "sdy-opt --help=PASS" in text
    full = sdy_opt("--help-all").out
    assert full.startswith(text)
    assert max(map(len, full.splitlines())) <= 100
    for helped in (full, sdy_opt("--help=sdy-basic-propagate").out):
        assert "--sdy-basic-propagate" in helped
        assert "keep-sharding-rules=<bool>" in helped
        assert "(default: false)" in helped
    assert (
        "Runs sdy-plan-at-hints, sdy-flatten-tuples, "
        in sdy_opt("--help=sdy-propagation-pipeline").out
    )
    refused = sdy_opt("--help=sdy-basic-propagat")
    assert "no pass or pipeline; did you mean 'sdy-basic-propagate'?" in refused.err
    assert "sdy-partition-pipeline" in sdy_opt("--list-passes").out
    assert sdy_opt("--version").out.startswith("sdy-opt, pyshardy ")
    assert "sdy, " in sdy_opt("--show-dialects").out


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)


@pytest.mark.parametrize("flag", ["--help", "--version", "--list-passes"])
def test_answers_do_not_load_the_host(flag: str):
    result = run_python(
        "import sys\n"
        "from pyshardy.cli import opt\n"
        "assert opt.main(sys.argv[1:]) == 0\n"
        "heavy = {name.partition('.')[0] for name in sys.modules}\n"
        "heavy &= {'torch_mlir', 'numpy', 'jax', 'jaxlib', 'torch', 'rich'}\n"
        "assert not heavy, heavy\n"
        "assert 'mlir_sdy.host' not in sys.modules\n",
        flag,
    )
    assert result.returncode == 0, result.stderr
