# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports that several processes write."""

import os
from pathlib import Path

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.cli import explain_ahead
from pyshardy.cli.explain_ahead import ReportAhead
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import explain_program
from pyshardy.processes.fork import ForkedText

CORPUS = Path(__file__).parents[2] / "corpus" / "mlir"


@pytest.mark.parametrize("fails", [False, True])
def test_the_report_is_the_same(monkeypatch, fails):
    """Also if the other processes fail."""
    here, pack, packed_here = os.getpid(), explain_ahead.packed, []

    def packed(data):
        packed_here.append(os.getpid() == here)
        if fails and os.getpid() != here:
            raise MemoryError
        return pack(data)

    monkeypatch.setattr(explain_ahead, "packed", packed)
    path = CORPUS / "transformer_train_sgd.mlir"
    module = parse(path.read_text(), Context(), path.name)
    with ReportAhead(fewest_operations=0, num_processors=2) as ahead:
        explained = explain_program(module, on_propagated=ahead.on_propagated)
        page = ahead.page(explained, "train")
    assert page == render_page(explained, "train")
    assert packed_here == [True] * (4 if fails else 2)


def test_an_unused_process_ends():
    """Nobody waits for it when partitioning fails."""
    read, write = os.pipe()
    text = ForkedText(lambda: os.read(read, 1).decode())
    process = text.process
    text.cancel()
    os.close(read)
    os.close(write)
    with pytest.raises(ChildProcessError):
        os.waitpid(process, 0)


def test_without_another_process(monkeypatch):
    def fork():
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", fork)
    text = ForkedText(lambda: "text")
    assert text.process is None
    assert text.result() == "text"
    text.cancel()
