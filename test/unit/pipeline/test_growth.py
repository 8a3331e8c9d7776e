# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The work of each pass grows in proportion to the program, whatever the program repeats."""

import sys
from collections import defaultdict

import pytest
from case_counts import spread
from growing_programs import PROGRAMS

from mlir_sdy.assembly import parse
from pyshardy.pipeline import Instrumentation, run_pipeline

COUNTS = (40, 80, 160)
FEW_CALLS = 3_000
"""The growth of fewer calls may be that of a limited search."""


class Calls(Instrumentation):
    """Counts for each pass the calls of functions, in Python and of C."""

    def __init__(self):
        self.of_pass = defaultdict(int)
        self._running = ""

    def before_pass(self, step, module):
        del module
        self._running = step.argument
        sys.setprofile(self._note)

    def after_pass(self, step, module):
        del step, module
        sys.setprofile(None)

    def _note(self, frame, event, argument):
        del frame, argument
        self.of_pass[self._running] += event in ("call", "c_call")


def calls_of(text, context):
    calls, module = Calls(), parse(text, context)
    before = sys.getprofile()
    try:
        for pipeline in ("sdy-propagation-pipeline", "sdy-partition-pipeline"):
            run_pipeline(module, pipeline, instrumentation=[calls], verify_analyses=False)
    finally:
        sys.setprofile(before)
    return calls.of_pass


@pytest.mark.parametrize("program", spread(PROGRAMS, 12), ids=lambda program: program.__name__)
def test_calls_grow_linearly(program, context):
    calls_of(program(4), context)  # so that what is computed once for a context is known
    few, more, most = (calls_of(program(count), context) for count in COUNTS)
    assert most["sdy-user-priority-propagate"] > more["sdy-user-priority-propagate"]
    for name, calls in most.items():
        # Twice as many constructs are added, with a tenth for searches with a limit.
        expected = more[name] + 2.2 * (more[name] - few[name])
        assert calls <= max(expected, more[name] + FEW_CALLS), name
