# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The form of the cases that show a difference from C++ Shardy; see `test_differences.py`."""

import re
from dataclasses import dataclass
from pathlib import Path

from shardy import Shardy
from shardy_partition import partitioned_by_shardy

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import collect
from mlir_sdy.dialect import Context
from pyshardy.api import propagate
from pyshardy.pipeline import run_pipeline
from pyshardy.program import PartitionedProgram, partition

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
TABLES = ("Where Shardy aborts or is silent", "Where Shardy is wrong", "Before 0.12")
PRELUDE = """
!t = tensor<8x8xf32>
#rows = #sdy.sharding<@m, [{"x"}, {}]>
#columns = #sdy.sharding<@m, [{}, {"x"}]>
#whole = #sdy.sharding<@m, [{}, {}]>
#by_rows = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>
#by_columns = #sdy.sharding_per_value<[<@m, [{}, {"x"}]>]>
#by_whole = #sdy.sharding_per_value<[<@m, [{}, {}]>]>
#vector = #sdy.sharding<@m, [{"x"}]>
#by_vector = #sdy.sharding_per_value<[<@m, [{"x"}]>]>
sdy.mesh @m = <["x"=2, "y"=2]>
"""
INLINED = """
!t = tensor<8x8xf32>
#rows = #sdy.sharding<mesh<["x"=2]>, [{"x"}, {}]>
"""


@dataclass(frozen=True)
class Refuses:
    """An error that holds `message`."""

    message: str


@dataclass(frozen=True, init=False)
class Gives:
    """A text that holds all of `parts`, and none of `lacks`."""

    parts: tuple[str, ...]
    lacks: tuple[str, ...]

    def __init__(self, *parts: str, lacks: tuple[str, ...] = ()):
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "lacks", lacks)


@dataclass(frozen=True)
class Aborts:
    """The process dies.

    Attributes:
        otherwise: the text that it gives in some runs, if it reads memory that isn't its own; None
            if it dies always.
        may_not_end: whether it may also run on, as what it reads or writes isn't its own.
    """

    otherwise: Gives | None = None
    may_not_end: bool = False


Answer = Aborts | Refuses | Gives


@dataclass(frozen=True)
class Passes:
    """A program of which passes make something else.

    Attributes:
        row: the beginning of the row in `docs/differences.md`.
        pipeline: the passes; empty if the program is only read and printed.
        text: the program.
        theirs: the answer of C++ Shardy 0.12.
        ours: the answer of pyshardy.
        before: the answer of C++ Shardy 0.10.2, where it is another one.
        before_pipeline: the passes there; empty if they are the same.
    """

    row: str
    pipeline: str
    text: str
    theirs: Answer
    ours: Answer
    before: Answer | None = None
    before_pipeline: str = ""


@dataclass(frozen=True)
class Numbers:
    """A program that C++ Shardy 0.12 partitions wrongly, or not at all.

    Attributes:
        row: the beginning of the row in `docs/differences.md`.
        text: the annotated program; its inputs are small integers.
        refusal: a part of the error of C++ Shardy; empty if its numbers are wrong.
    """

    row: str
    text: str
    refusal: str = ""


Case = Passes | Numbers


def program(arguments: str, results: str, body: str) -> str:
    """Return a program of one function, in which the names of `PRELUDE` are known."""
    return f"{PRELUDE}func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"


def both_partitioned(
    shardy: Shardy, context: Context, text: str
) -> tuple[PartitionedProgram, PartitionedProgram]:
    """Return the programs of C++ Shardy and of pyshardy."""
    module = parse(text, context, "t.mlir")
    theirs_ = partitioned_by_shardy(shardy, asm(module), context)
    propagate(module)
    return theirs_, partition(module)


def warnings_of_both(
    shardy: Shardy, context: Context, text: str, pipeline: str
) -> tuple[list[str], list[str]]:
    """Return the warnings of C++ Shardy in a new process, and ours."""
    shardy.renew()
    with collect() as diagnostics:
        run_pipeline(parse(text, context, "t.mlir"), pipeline)
    return (
        shardy.warnings(text, f"builtin.module({pipeline})"),
        [str(each) for each in diagnostics],
    )


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
