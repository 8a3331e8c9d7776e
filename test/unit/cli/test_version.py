# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every tool tells the versions of all parts, and the declared ones are the real ones."""

import importlib
import platform
import re
from importlib.metadata import requires, version

import pytest

from mlir_sdy import host_build
from mlir_sdy.host import ir, stablehlo

TOOLS = ("explain", "opt", "run", "translate")


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
    monkeypatch.setattr(host_build, "version", lambda _: "20990101")
    told = host_build.describe_build()
    assert told == f"torch-mlir 20990101, which is not the tested build {host_build.BUILD}"
