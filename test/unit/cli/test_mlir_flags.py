# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flags of `mlir-opt` that `sdy-opt` has as well, and passes from files."""

import logging
import re

import pytest

from pyshardy.pipeline.registry import unregister

PROGRAM = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = stablehlo.add %a, %c : tensor<4xf32> loc("sum")
  %1:2 = stablehlo.optimization_barrier %0, %0 : tensor<4xf32>, tensor<4xf32>
  %2 = stablehlo.abs %1#0 : tensor<4xf32>
  return %1#1 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--mlir-elide-elementsattrs-if-larger=3", "constant dense_resource<__elided__> : tensor"),
        ("--mlir-elide-elementsattrs-if-larger=4", "constant dense<[1.000000e+00, 2.0"),
        ("--mlir-use-nameloc-as-prefix", "%sum = stablehlo.add"),
        ("--mlir-print-debuginfo --mlir-print-local-scope", ': tensor<4xf32> loc("sum")'),
        ("--mlir-print-skip-regions", "module {...}"),
        ("--mlir-disable-threading --verify-roundtrip", "return %1#1"),
        ("--mlir-print-value-users", "= stablehlo.add %arg0, %cst : tensor<4xf32>  // user: %1\n"),
        ("--mlir-print-value-users", "  // users: %2, func.return\n"),
        ("--mlir-print-value-users", "abs %1#0 : tensor<4xf32>  // unused\n"),
    ],
)
def test_printing(sdy_opt, flags, expected):
    result = sdy_opt(*flags.split(), stdin=PROGRAM)
    assert (result.status, result.err) == (0, "")
    assert expected in result.out


def test_separators_of_the_user(sdy_opt):
    result = sdy_opt("--split-input-file=// ####", stdin="module @a {}\n// ####\nmodule @b {}\n")
    assert result.out == "module @a {\n}\n// ####\nmodule @b {\n}\n"


def test_reports_on_passes(sdy_opt):
    flags = "--dump-pass-pipeline", "--mlir-pass-statistics", "--mlir-timing-display=list", "-v"
    result = sdy_opt("--canonicalize", "--sdy-close-shardings", *flags, stdin=PROGRAM)
    for name in ("pyshardy", "mlir_sdy"):
        logging.getLogger(name).handlers.clear()
    assert "Pass Manager with 2 passes:\nbuiltin.module(canonicalize,sdy-close-sh" in result.err
    assert "(S)      1 ops-removed - Operations removed: 1 stablehlo.abs\n" in result.err
    logged = r"pipeline.runner: canonicalize: \d\.\d{3} s, 6 operations \(\+0 -1\)"
    assert re.search(logged, result.err)
    times = re.findall(r"^ +(\d+\.\d+) \(.*\)  (?!Total|Rest)\w", result.err, re.MULTILINE)
    assert times == sorted(times, key=float, reverse=True)
    assert len(times) == 7


def test_a_reproducer_on_demand(sdy_opt, tmp_path):
    path = tmp_path / "reproducer.mlir"
    assert sdy_opt("--cse", f"--mlir-generate-reproducer={path}", stdin=PROGRAM).status == 0
    assert 'pipeline: "builtin.module(cse)"' in path.read_text()
    again = sdy_opt("--run-reproducer", str(path))
    assert (again.status, "stablehlo.abs" in again.out) == (0, False)
    refused = sdy_opt("--cse", f"--mlir-generate-reproducer={tmp_path}", stdin=PROGRAM)
    assert (refused.status, "cannot write the reproducer" in refused.err) == (1, True)


def test_passes_from_files(sdy_opt, tmp_path):
    path = tmp_path / "passes.py"
    path.write_text(
        "import pyshardy as sdy\nfrom mlir_sdy.host import ir\n\n"
        '@sdy.register_pass("rename-module")\n'
        "def rename_module(module, *, name: str = 'a') -> None:\n"
        '    """Rename the module.\n\n    Args:\n        name: the name.\n    """\n'
        "    module.operation.attributes['sym_name'] = ir.StringAttr.get(name)\n"
    )
    try:
        result = sdy_opt(f"--load-passes={path}", "--rename-module=name=b", stdin="module {}")
    finally:
        unregister("rename-module")
    assert (result.status, result.out) == (0, "module @b {\n}\n")
    path.write_text("1 +")
    broken = sdy_opt(f"--load-passes={path}", stdin="module {}")
    assert f"{path}:1:4: error: the file of passes is not valid Python" in broken.err


def test_the_operation_of_an_error(sdy_opt):
    text = 'func.func @f() { %0 = "stablehlo.tanhh"() : () -> tensor<2xf32> return }'
    assert "note: see current operation" in sdy_opt(stdin=text).err
    without = sdy_opt("--mlir-print-op-on-diagnostic=false", stdin=text)
    assert "note:" not in without.err
    assert "did you mean 'stablehlo.tanh'" in without.err


def test_a_mesh_for_the_program(sdy_opt):
    text = 'sdy.mesh @mesh = <["x"=2]>\n'
    assert sdy_opt("--mesh=x:4,y:2", stdin=text).out.count('<["x"=4, "y"=2]>') == 1
    wrong = sdy_opt("--mesh=mash=x:4", stdin=text)
    assert "'--mesh=mash=...' replaces no mesh: the program has 'mesh'; did you" in wrong.err
