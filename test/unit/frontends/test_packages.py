# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A package that is missing is one clear error, and none is imported before it is needed."""

import subprocess
import sys

import pytest

WITHOUT = """
import importlib.util, sys
there = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == {package!r} else there(name, *rest)
sys.modules[{package!r}] = None
import pyshardy as sdy
try:
    {statement}
except sdy.UsageError as failure:
    print(failure.diagnostics[0].message)
"""
PROGRAM = "'sdy.mesh @m = <[\"x\"=2]> func.func @main(%a: tensor<4xf32>) { return }'"


@pytest.mark.parametrize(
    ("package", "statement", "feature"),
    [
        ("jax", "sdy.jax.trace(abs, 1)", "sdy.jax.trace"),
        ("jax", "sdy.jax.from_lowered(None)", "sdy.jax.from_lowered"),
        ("jax", "sdy.jax.from_exported(b'')", "sdy.jax.from_exported"),
        ("jax", f"sdy.partition(sdy.parse({PROGRAM}, sdy.Context())).as_jax()", "'as_jax'"),
        ("torch", "sdy.torch.trace(None)", "sdy.torch.trace"),
    ],
)
def test_what_is_missing_is_named(package, statement, feature):
    program = WITHOUT.format(package=package, statement=statement)
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    mend = f"install it by: pip install 'pyshardy[{package}]'"
    expected = f"{feature} needs the package '{package}', which is missing; {mend}\n"
    assert (process.stdout, process.stderr) == (expected, "")


def test_frameworks_are_not_imported_before_their_use():
    program = """
import sys
import pyshardy as sdy
sdy.jax, sdy.torch
from pyshardy.frontends.jax import callable
from pyshardy.frontends import files
print(*(name for name in ("jax", "jaxlib", "torch") if name in sys.modules))
"""
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert process.stdout == "\n"


def test_the_help_of_the_translator_needs_no_host():
    program = """
import sys
from pyshardy.cli.translate import main
try:
    main(["--help"])
except SystemExit as end:
    assert not end.code
print("loaded:", *(name for name in ("torch" + "_mlir", "numpy", "jax") if name in sys.modules))
"""
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "--target-version VERSION" in process.stdout
    assert process.stdout.endswith("loaded:\n")


OLD = """
import importlib.metadata
installed = importlib.metadata.version
importlib.metadata.version = lambda name: {version!r} if name == {package!r} else installed(name)
importlib.metadata.requires = lambda name: [
    "torch-mlir==1", "torch<2.16,>=2.7; extra == 'torch'", "jax<0.13,>=0.10.2; extra == 'jax'"
]
import pyshardy as sdy
try:
    {statement}
except sdy.UsageError as failure:
    print(failure.diagnostics[0].message)
except ModuleNotFoundError:
    print("missing")
"""


@pytest.mark.parametrize(
    ("package", "version", "needed"),
    [
        ("torch", "2.6.0+cu124", "2.7"),
        ("torch", "2.10.0+cpu", None),
        ("jax", "0.9.2", "0.10.2"),
        ("jax", "0.10.2", None),
    ],
)
def test_what_is_too_old_is_told(package, version, needed):
    pytest.importorskip(package)
    program = OLD.format(package=package, version=version, statement=f"sdy.{package}.trace(None)")
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    mend = f"upgrade it by: pip install 'pyshardy[{package}]'"
    told = f"sdy.{package}.trace needs {package} {needed} or newer, got {version}; {mend}\n"
    assert (process.stdout == told) is (needed is not None), process.stdout + process.stderr
