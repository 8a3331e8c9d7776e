# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ Shardy reads what is printed here, and prints the same."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.ods.tables import ATTRIBUTES, OPERATIONS

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [*(ROOT / "examples").glob("*.mlir"), *Path(__file__).parent.glob("assembly/*.mlir")]


def printed(text, **options):
    """What is printed for a text; resources of one name need a context each."""
    return asm(parse(text, Context()), **options)


def theirs(shardy, text, **options):
    """Return the text that Shardy prints, without the numbers in names of resources."""
    return re.sub(r"\b(weights)_\d+\b", r"\1", shardy.run(text, **options))


@pytest.mark.parametrize("options", [{}, {"generic": True}, {"debug_info": True}], ids=str)
@pytest.mark.parametrize("program", sorted(PROGRAMS), ids=lambda path: path.stem)
def test_prints_the_same(program, options, shardy):
    """Shardy's print of the source is ours, and so is its print of ours."""
    text = program.read_text()
    ours = printed(text, **options)
    assert ours == printed(ours, **options)
    assert shardy.printed(ours) == theirs(shardy, text, **options)
    assert shardy.printed(ours) == theirs(shardy, ours, **options)


NAMES = """
import json
import re
from jaxlib.mlir.dialects import _sdy_ops_gen, sdy
names = {getattr(value, "OPERATION_NAME", "") for value in vars(_sdy_ops_gen).values()}
print(json.dumps([sorted(names), [name for name in dir(sdy) if name.endswith("Attr")]]))
"""


def test_names():
    """Operations are those of Shardy, and its attributes with Python classes have them here."""
    command = [sys.executable, "-c", NAMES]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    operations, attributes = json.loads(output)
    assert {name for name in operations if name.startswith("sdy.")} == set(OPERATIONS)
    ours = {declaration.class_name for declaration in ATTRIBUTES.values()}
    assert set(attributes) <= ours
