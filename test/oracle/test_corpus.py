# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real programs through the whole propagation pipeline, against C++ Shardy."""

from pathlib import Path

import pytest

from mlir_sdy.assembly import asm, parse
from pyshardy.pipeline import run_pipeline

PROGRAMS = sorted((Path(__file__).parents[1] / "corpus" / "mlir").glob("*.mlir"))


def test_corpus_is_there():
    assert len(PROGRAMS) >= 60


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_same_program(shardy, context, path):
    module = parse(path.read_text(), context)
    expected = shardy.run(asm(module), "builtin.module(sdy-propagation-pipeline)")
    run_pipeline(module, "sdy-propagation-pipeline{compatible=true}")
    assert asm(module) == asm(parse(expected, context))
