# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tools inside the test's process."""

import io
from collections.abc import Callable
from typing import NamedTuple

import pytest

from pyshardy.cli import opt


class Result(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def sdy_opt(capfd, monkeypatch) -> Callable[..., Result]:
    def run(*arguments: str, stdin: str | bytes = "") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = opt.main(arguments)
        return Result(status, *capfd.readouterr())

    return run
