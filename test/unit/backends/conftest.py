# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An engine for all tests, and a short way to run local programs on several devices."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.backends.interpreter.engine import InterpreterEngine
from pyshardy.backends.lockstep.backend import LockstepProgram
from pyshardy.local_program.process_groups import Layout

RunLocal = Callable[..., list[list[np.ndarray]]]


@pytest.fixture(scope="session")
def context() -> Context:
    return Context()


@pytest.fixture(scope="session")
def engine() -> Iterator[InterpreterEngine]:
    engine = InterpreterEngine()
    yield engine
    engine.close()


@pytest.fixture
def run_local(context: Context, engine: InterpreterEngine) -> RunLocal:
    """Runs a program: its text, the inputs of each process, and the layout."""

    def run(text: str, inputs: list[list[np.ndarray]], layout: Layout | None = None):
        layout = layout or Layout(1, len(inputs))
        return LockstepProgram(parse(text, context, "p.mlir"), engine, layout).run(inputs)

    return run
