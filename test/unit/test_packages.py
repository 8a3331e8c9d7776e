# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages that are missing or in other versions, none of which is imported before it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pyshardy import packages
from pyshardy.toml import loads

ROOT = Path(__file__).resolve().parents[2]

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
    assert isinstance(failure, ImportError)
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
    mend = f"install it by: {packages.installation(package)}"
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
    mend = f"upgrade it by: {packages.installation(package)}"
    told = f"sdy.{package}.trace needs {package} {needed} or newer, got {version}; {mend}\n"
    assert (process.stdout == told) is (needed is not None), process.stdout + process.stderr


RANGES = {"jax": ">=0.10.2,<0.13", "iree": ">=3.12,<3.14"}
OTHER = """
import importlib.metadata
installed = importlib.metadata.version
importlib.metadata.version = lambda name: {version!r} if name == {package!r} else installed(name)
importlib.metadata.requires = lambda name: [
    "torch-mlir==1", "jaxlib<0.13,>=0.10.2; extra == 'jax'", "jaxlib==0.10.2; extra == 'dev'",
    "iree-base-compiler<3.14,>=3.12; extra == 'iree'",
    "iree-base-runtime<3.14,>=3.12; extra == 'iree'",
]
import numpy as np
import pyshardy as sdy
from pyshardy.backends.registry import registered
module = sdy.parse('''
sdy.mesh @mesh = <["x"=2]>
#x = #sdy.sharding<@mesh, [{{"x"}}]>
func.func @main(%a: tensor<4xf32> {{sdy.sharding = #x}}) -> tensor<4xf32> {{
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}}''', sdy.Context())
sdy.propagate(module)
program = sdy.partition(module)
for optimization in (0, 1):
    options = sdy.CompileOptions(optimization=optimization)
    print(program.run([np.ones(4, np.float32)], {backend!r}, options)[0].tolist())
"""


@pytest.mark.parametrize(
    ("backend", "package", "version", "how", "extra"),
    [
        ("xla", "jaxlib", "0.9.2", "older", "jax"),
        ("xla", "jaxlib", "0.12.0.1", None, "jax"),
        ("iree", "iree-base-runtime", "3.14.0", "newer", "iree"),
        ("iree", "iree-base-compiler", "3.13.2", None, "iree"),
        ("jit", "jaxlib", "0.13.1", None, "jax"),
    ],
)
def test_other_versions_are_told_once(backend, package, version, how, extra):
    """The program runs nevertheless."""
    if backend == "iree":
        pytest.importorskip("iree.compiler")
    elif backend == "xla":
        pytest.importorskip("jaxlib")
    code = OTHER.format(backend=backend, package=package, version=version)
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert process.stdout == "[2.0, 2.0, 2.0, 2.0]\n" * 2, process.stderr
    warnings = [line for line in process.stderr.splitlines() if "warning: " in line]
    told = (
        f"warning: {package} {version} is {how} than the versions that pyshardy "
        f"supports, {RANGES[extra]}; install one of these by: {packages.installation(extra)}"
    )
    assert warnings == ([] if how is None else [told])


def test_the_ranges_are_those_of_the_metadata():
    project = loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in ("jax", "iree", "torch"):
        requirements = map(Requirement, project["optional-dependencies"][extra])
        wanted = {each.name: each.specifier for each in requirements}
        assert packages.supported_versions(extra) == wanted
