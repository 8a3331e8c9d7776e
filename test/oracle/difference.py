# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The form of the cases that show a difference from C++ Shardy; see `test_differences.py`."""

from dataclasses import dataclass

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
class Aborts:
    """The process dies."""


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
