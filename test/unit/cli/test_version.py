# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every tool tells the versions of all parts, and the declared ones are the real ones."""

import importlib.metadata
import platform
import re
import subprocess
import sys
from importlib.metadata import requires, version

import pytest

import pyshardy as sdy
from mlir_sdy import host_build
from mlir_sdy.host import ir, stablehlo
from pyshardy.__main__ import TOOLS as SUMMARIES
from pyshardy.__main__ import main

TOOLS = ("auto", "calibrate", "explain", "mpmd", "opt", "run", "translate")


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_tells_its_versions(tool, capsys):
    main = importlib.import_module(f"pyshardy.cli.{tool}").main
    try:
        status = main(["--version"])
    except SystemExit as end:
        status = end.code
    assert not status
    first, host, python = capsys.readouterr().out.splitlines()
    assert first == f"sdy-{tool}, pyshardy {version('pyshardy')}"
    build = version(host_build.DISTRIBUTION)
    assert host.startswith(f"MLIR host: {host_build.DISTRIBUTION} {build}")
    assert python.startswith(f"Python {platform.python_version()}, ")


def test_the_declared_build_is_the_one_that_is_required():
    wanted = f"{host_build.DISTRIBUTION}=={host_build.BUILD}"
    assert wanted in (requires("pyshardy") or [])


def test_the_declared_versions_are_those_of_the_build(tmp_path):
    if host_build.installed_build() != host_build.BUILD:
        pytest.skip("another build of the host is installed")
    with ir.Context(), ir.Location.unknown():
        written = tmp_path / "module.mlirbc"
        with written.open("wb") as file:
            ir.Module.create().operation.write_bytecode(file)
    producer = re.search(rb"MLIR([0-9.a-z]+)", written.read_bytes())
    assert producer[1].decode() == host_build.LLVM
    assert stablehlo.get_current_version() == host_build.STABLEHLO


def test_another_build_is_told(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "20990101")
    told = host_build.describe_build()
    assert told == f"torch-mlir 20990101, which is not the tested build {host_build.BUILD}"


def test_version_of_the_package():
    assert sdy.__version__ == version("pyshardy")


def test_all_tools_by_one_module(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"python -m pyshardy, pyshardy {sdy.__version__}\n")
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert {*TOOLS, "examples", "lsp", "mcp"} == SUMMARIES.keys()
    assert all(f"  {tool} " in listed for tool in TOOLS)
    assert main(["opt", "--version"]) == 0
    assert capsys.readouterr().out.startswith("sdy-opt, pyshardy ")
    assert main(["explian"]) == 1
    assert "no tool 'explian'; did you mean 'explain'?" in capsys.readouterr().err


def test_the_module_is_a_command(tmp_path):
    program = tmp_path / "a.mlir"
    program.write_text("func.func @f() {\n  return\n}\n")
    command = [sys.executable, "-m", "pyshardy", "opt", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "func.func @f()" in done.stdout
