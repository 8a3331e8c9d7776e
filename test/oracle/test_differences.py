# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each row of `docs/differences.md` where C++ Shardy aborts, is silent or is wrong.

A test fails when either side changes: when C++ Shardy no longer errs, the row goes.
"""

import re
from pathlib import Path

import differences_silent
import differences_wrong
import numpy as np
import pytest
from difference import Aborts, Answer, Gives, Numbers, Passes, Refuses
from shardy import ShardyAborted, ShardyRefused
from shardy_partition import partitioned_by_shardy

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError, collect
from mlir_sdy.verify import verify
from pyshardy.api import propagate
from pyshardy.pipeline import run_pipeline
from pyshardy.program import partition, run_unpartitioned

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
TABLES = ("Where Shardy aborts or is silent", "Where Shardy is wrong", "Before 0.12")
CASES = differences_silent.CASES | differences_wrong.CASES
ELSEWHERE = differences_silent.ELSEWHERE | differences_wrong.ELSEWHERE
PASSES = {name: case for name, case in CASES.items() if isinstance(case, Passes)}
NUMBERS = {name: case for name, case in CASES.items() if isinstance(case, Numbers)}
BEFORE = {name: case for name, case in PASSES.items() if case.before is not None}


def check(answer: Answer, run) -> None:
    """Check that `run` answers as it should."""
    match answer:
        case Aborts():
            with pytest.raises(ShardyAborted):
                run()
        case Refuses(message):
            with pytest.raises((ShardyRefused, SdyError), match=re.escape(message)):
                run()
        case Gives(parts, lacks):
            text = run()
            assert all(part in text for part in parts), text
            assert not any(part in text for part in lacks), text


def theirs(shardy, case: Passes):
    """Return the run of C++ Shardy."""
    return lambda: shardy.run(case.text, case.pipeline and f"builtin.module({case.pipeline})")


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", PASSES)
def test_passes(shardy, context, name):
    case = PASSES[name]

    def ours() -> str:
        module = parse(case.text, context, "t.mlir")
        with collect():
            if case.pipeline:
                run_pipeline(module, case.pipeline)
        verify(module)
        return asm(module)

    check(case.ours, ours)
    check(case.theirs, theirs(shardy, case))


@pytest.mark.parametrize("name", BEFORE)
def test_before(shardy, name):
    case = BEFORE[name]
    answer = case.before if shardy.release < (0, 12) else case.theirs
    check(answer, theirs(shardy, case))


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(shardy, context, name):
    case = NUMBERS[name]
    module = parse(case.text, context, "t.mlir")
    generator = np.random.default_rng(0)
    propagated = parse(case.text, context, "t.mlir")
    propagate(propagated)
    program = partition(propagated)
    inputs = [
        generator.integers(0, 4, port.spec.shape).astype(port.spec.dtype) for port in program.inputs
    ]
    expected = run_unpartitioned(module, inputs, backend="xla")

    def is_right(found) -> bool:
        return all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))

    assert is_right(program.run(inputs, backend="xla"))
    if case.refusal:
        with pytest.raises((ShardyRefused, SdyError), match=re.escape(case.refusal)):
            partitioned_by_shardy(shardy, asm(module), context).run(inputs, backend="xla")
    else:
        found = partitioned_by_shardy(shardy, asm(module), context).run(inputs, backend="xla")
        assert not is_right(found)


def rows() -> list[str]:
    """Return the first cell of each row of the tables."""
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    found: list[str] = []
    for section in sections:
        title, _, body = section.partition("\n")
        if title in TABLES:
            cells = re.findall(r"^\| (.*?) \|", body, re.MULTILINE)
            assert cells[0] == "topic"
            found += cells[1:]
    return found


def test_each_row_is_tested():
    keys = {case.row for case in CASES.values()} | ELSEWHERE.keys()
    page = rows()
    untested = [row for row in page if not any(row.startswith(key) for key in keys)]
    assert untested == []
    assert [key for key in keys if sum(row.startswith(key) for row in page) != 1] == []


def test_the_other_tests_exist():
    for place in ELSEWHERE.values():
        file, _, name = place.rpartition("::")
        text = Path(__file__).with_name(file or Path(__file__).name).read_text()
        assert f"def {name}(" in text, place
