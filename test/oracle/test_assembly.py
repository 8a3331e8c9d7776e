# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ Shardy reads what is printed here, and prints the same."""

from pathlib import Path

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [*(ROOT / "examples").glob("*.mlir"), *Path(__file__).parent.glob("assembly/*.mlir")]


def printed(text, **options):
    """What is printed for a text; resources of one name need a context each."""
    return asm(parse(text, Context()), **options)


@pytest.mark.parametrize("options", [{}, {"generic": True}, {"debug_info": True}], ids=str)
@pytest.mark.parametrize("program", sorted(PROGRAMS), ids=lambda path: path.stem)
def test_prints_the_same(program, options, shardy):
    """Shardy's print of the source is ours, and so is its print of ours."""
    text = program.read_text()
    ours = printed(text, **options)
    assert ours == shardy.run(text, **options)
    assert ours == shardy.run(ours, **options)
    assert ours == printed(ours, **options)
